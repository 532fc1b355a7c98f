// Runs compiled snippets as the Editor does: Execute() through reflection, in whatever order the test asks.
//
//   path TEXT    Application.dataPath becomes TEXT
//   run CLASS    deliver that snippet: "= TYPE TEXT" for a value, "= null", or "! TYPE MESSAGE" for an
//                exception, with " from Probe.Fail" when its trace still says so
//   runs         how often snippets have called Probe.Run() since the last "runs"
//   state        the values in SessionState, then forget them
//
// One command a line in, one line out; backslashes and line ends in texts are escaped.
using System;
using System.Linq;
using System.Reflection;
using System.Text;

// Snippets talk to the test through this.
public static class Probe
{
    public static MethodInfo Current;
    public static int Count;
    public static bool Yes = true, No = false;

    public static int Run() { return ++Count; }
    // Inlined it would be missing from the trace.
    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    public static object Fail() { throw new InvalidOperationException("deep down"); }
    public static object Again() { return Current.Invoke(null, null); }
}

public class Custom
{
    public override string ToString() { return "custom text"; }
}

public class Mute
{
    public override string ToString() { return null; }
}

public class Sulky
{
    public override string ToString() { throw new FormatException("no text"); }
}

public class Riddle : Exception
{
    public override string Message { get { throw new FormatException("no message"); } }
}

public static class Driver
{
    public static void Main()
    {
        Console.InputEncoding = Console.OutputEncoding = new UTF8Encoding(false);
        for (string line; (line = Console.ReadLine()) != null;)
        {
            var space = line.IndexOf(' ');
            var word = space < 0 ? line : line.Substring(0, space);
            Console.WriteLine(Escape(Answer(word, line.Substring(space + 1))));
        }
    }

    static string Answer(string word, string rest)
    {
        switch (word)
        {
            case "path":
                UnityEngine.Application.dataPath = rest;
                return "ok";
            case "run":
                return Deliver(rest);
            case "runs":
                var runs = Probe.Count;
                Probe.Count = 0;
                return runs.ToString();
            case "state":
                var values = string.Join("|", UnityEditor.SessionState.All.Values.ToArray());
                UnityEditor.SessionState.All.Clear();
                return values;
            default:
                return "unknown command";
        }
    }

    static string Deliver(string name)
    {
        Probe.Current = typeof(Driver).Assembly.GetType(name).GetMethod("Execute");
        try
        {
            var value = Probe.Current.Invoke(null, null);
            return value == null ? "= null" : "= " + value.GetType().Name + " " + Text(() => value.ToString());
        }
        catch (TargetInvocationException e)
        {
            var deep = e.InnerException.StackTrace.Contains("Probe.Fail") ? " from Probe.Fail" : "";
            return "! " + e.InnerException.GetType().Name + " " + Text(() => e.InnerException.Message) + deep;
        }
    }

    static string Text(Func<string> get)
    {
        try { return get() ?? "(none)"; }
        catch (Exception e) { return "(" + e.GetType().Name + ")"; }
    }

    static string Escape(string text)
    {
        return text.Replace("\\", "\\\\").Replace("\r", "\\r").Replace("\n", "\\n");
    }
}

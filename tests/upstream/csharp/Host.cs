// One script domain: compiles and runs Editor snippets, one per line, for as long as its input stays open.
// In:  "keep KEY VALUE" puts a SessionState value back (no answer); "run CODE" runs a snippet. Words are the hex of UTF-8.
// Out: one JSON object per "run".
using System;
using System.CodeDom.Compiler;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;
using Microsoft.CSharp;
using UnityEditor;
using UnityEngine;

public static class Host
{
    // Ten lines, as in the bridge: what is subtracted from the compiler's line numbers below.
    static readonly string[] Before =
    {
        "using System;", "using System.Collections.Generic;", "using System.Linq;", "using System.Reflection;",
        "using UnityEngine;", "using UnityEditor;",
        "public static class MCPDynamicCode", "{", "public static object Execute()", "{",
    };

    public static void Main(string[] arguments)
    {
        Application.dataPath = arguments[0];
        var answers = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { AutoFlush = true, NewLine = "\n" };
        Console.SetOut(Console.Error);   // what a snippet prints must not end up between the answers
        string line;
        while ((line = Console.In.ReadLine()) != null)
        {
            var words = line.Split(' ');
            if (words[0] == "keep") SessionState.SetString(Decode(words[1]), Decode(words[2]));
            else answers.WriteLine(Answer(Decode(words[1])));
        }
    }

    static string Decode(string word)
    {
        return Encoding.UTF8.GetString(Enumerable.Range(0, word.Length / 2).Select(i => Convert.ToByte(word.Substring(2 * i, 2), 16)).ToArray());
    }

    static string Answer(string code)
    {
        var facts = new Dictionary<string, object>();
        try { Run(code, facts); }
        catch (Exception e) { facts["broken"] = e.Message; }
        facts["session"] = SessionState.Dump();
        return Json.Of(facts);
    }

    static void Run(string code, Dictionary<string, object> facts)
    {
        var built = Compile(code);
        if (built.Errors.HasErrors)
        {
            facts["errors"] = built.Errors.Cast<CompilerError>().Where(error => !error.IsWarning)
                .Select(error => "Line " + Math.Max(1, error.Line - Before.Length) + ": " + error.ErrorText).ToArray();
            return;
        }
        try
        {
            var value = built.CompiledAssembly.GetType("MCPDynamicCode").GetMethod("Execute").Invoke(null, null);
            facts["text"] = Convert.ToString(value, CultureInfo.InvariantCulture);
            if (value != null) facts["value"] = new Json.Ready(value);
        }
        catch (TargetInvocationException e)
        {
            var thrown = e.InnerException;
            facts["thrown"] = new { message = thrown.Message, type = thrown.GetType().Name, stack = thrown.StackTrace };
        }
    }

    // A snippet that comes again is not compiled again: on a busy machine the compiler would set the pace of the
    // server's re-sends, and how many there are within its time limits.
    static readonly Dictionary<string, CompilerResults> Compiled = new Dictionary<string, CompilerResults>();

    static CompilerResults Compile(string code)
    {
        CompilerResults known;
        if (!Compiled.TryGetValue(code, out known)) Compiled[code] = known = CompileAnew(code);
        return known;
    }

    static CompilerResults CompileAnew(string code)
    {
        var options = new CompilerParameters { GenerateInMemory = true };
        var needed = new[] { typeof(Uri), typeof(Enumerable), typeof(Application), typeof(SessionState), typeof(Ryan6Vrc.AgentTools.Editor.ReportConsole) };
        options.ReferencedAssemblies.AddRange(needed.Select(type => type.Assembly.Location).ToArray());
        using (var compiler = new CSharpCodeProvider())
            return compiler.CompileAssemblyFromSource(options, string.Join("\n", Before) + "\n" + code + "\n}\n}\n");
    }
}

// Just enough JSON to hand values out; what it does not know it writes as text, as the bridge falls back to ToString().
static class Json
{
    // A snippet's value, written at once: where enumerating it throws, its text stands in.
    public sealed class Ready
    {
        public readonly string Written;
        public Ready(object value)
        {
            try { Written = Of(value); }
            catch (Exception) { Written = Quoted(value.ToString()); }
        }
    }

    public static string Of(object value)
    {
        if (value == null) return "null";
        if (value is bool) return (bool)value ? "true" : "false";
        if (value is double || value is float) return Number(Convert.ToDouble(value));
        if (value is decimal || value.GetType().IsPrimitive && !(value is char)) return Convert.ToString(value, CultureInfo.InvariantCulture);
        if (value is string || value is UnityEngine.Object) return Quoted(value.ToString());
        if (value is Ready) return ((Ready)value).Written;
        var map = value as IDictionary;
        if (map != null) return Braced(map.Keys.Cast<object>().Select(key => Entry(key.ToString(), map[key])));
        if (value is IEnumerable) return "[" + string.Join(",", ((IEnumerable)value).Cast<object>().Select(Of)) + "]";
        if (value.GetType().Name.Contains("AnonType"))   // mcs: an anonymous class
            return Braced(value.GetType().GetProperties().Select(property => Entry(property.Name, property.GetValue(value, null))));
        return Quoted(value.ToString());
    }

    static string Braced(IEnumerable<string> entries) { return "{" + string.Join(",", entries) + "}"; }
    static string Entry(string key, object value) { return Quoted(key) + ":" + Of(value); }

    static string Number(double value)
    {
        if (double.IsNaN(value) || double.IsInfinity(value)) return Quoted(value.ToString(CultureInfo.InvariantCulture));
        var digits = value.ToString("R", CultureInfo.InvariantCulture);
        return digits.Contains(".") || digits.Contains("E") ? digits : digits + ".0";
    }

    static string Quoted(string text)
    {
        var quoted = new StringBuilder("\"");
        foreach (var c in text)
        {
            if (c == '"' || c == '\\') quoted.Append('\\').Append(c);
            else if (c >= ' ' && c <= '~') quoted.Append(c);
            else quoted.Append("\\u").Append(((int)c).ToString("x4"));
        }
        return quoted.Append('"').ToString();
    }
}

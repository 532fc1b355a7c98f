//! Snippets in the shapes that callers write, each a method body by itself.

/// C# 6, and every path returns or throws: compiles with and without the wrapper, and gives the same either way.
pub(crate) const WHOLE: &[&str] = &[
    "return 1;",
    "return null;",
    "return (string)null;",
    "return \"\";",
    "return 'c';",
    "return 1.5m;",
    "return DayOfWeek.Friday;",
    "return new Custom();",
    "return new { a = 1, b = \"x\" };",
    "return new List<Dictionary<string, List<int>>>();",
    "return 1; return 2;",
    ";;; return 1;;",
    "{ return 1; }",
    "checked { return 1; }",
    "throw new InvalidOperationException(\"boom\");",
    "return Probe.Fail();",
    "if (Probe.Yes) return 1; else return 2;",
    "if (Probe.Yes) { return 1; }\nthrow new Exception();",
    "while (true) { if (Probe.Yes) return 3; }",
    "for (;;) { if (Probe.Yes) return 4; }",
    "do { return 5; } while (true);",
    "unused: return 1;",
    "int i = 0;\nagain: i++;\nif (i < 3) goto again;\nreturn i;",
    "if (Probe.Yes) goto done;\nreturn 0;\ndone: return 7;",
    "if (Probe.Yes) goto done;\nreturn 0;\ndone:\nthrow new Exception(\"end\");",
    "switch (Probe.Run()) { case 0: goto default; case 1: goto case 2; case 2: return 2; default: return 9; }",
    "switch (Probe.Yes) { case true: return 1; default: throw new Exception(); }",
    "try { throw new Exception(\"a\"); } catch (Exception e) { return e.Message; } finally { Probe.Run(); }",
    "try { throw new Exception(\"a\"); } catch (Exception e) when (e.Message == \"a\") { throw; }",
    "try { return 1; } finally { }",
    // Returns that belong to someone else.
    "Action a = () => { return; }; a(); return 1;",
    "Action<object> a = delegate (object o) { if (o == null) return; Probe.Run(); }; a(null); return 2;",
    "Func<Action> a = () => () => { return; }; a()(); return 3;",
    "Func<System.Threading.Tasks.Task<int>> f = async () => { await System.Threading.Tasks.Task.Yield(); return 5; }; return f().Result;",
    "Func<System.Threading.Tasks.Task> f = async () => { await System.Threading.Tasks.Task.FromResult(1); return; }; f().Wait(); return 6;",
    "int n = 1;\nFunc<int, System.Threading.Tasks.Task<int>> f = async k => {\n try { n += await System.Threading.Tasks.Task.FromResult(k); } catch (Exception) { return -1; }\n return n;\n};\nreturn f(4).Result + n;",
    "Func<int, int> f = null; f = n => n < 2 ? 1 : n * f(n - 1); return f(5);",
    "var all = new List<Func<int>>(); foreach (var i in new[] { 1, 2, 3 }) { int j = i; all.Add(() => i * j); } return all.Sum(f => f());",
    "return (from x in new[] { 1, 2, 3 } let y = x * 2 where y > 2 orderby y descending select new { x, y }).First();",
    "return new[] { 3, 4 }.Select((x, i) => x * i).Where(x => { return x > 0; }).ToList().Count;",
    "System.Linq.Expressions.Expression<Func<int, int>> q = z => z + 1; return q.Compile()(2);",
    "dynamic d = 1; return d + 1;",
    "Func<Func<Func<int>>> deep = () => { int a = 1; return () => { int b = a + 1; return () => { int c = a + b; return c; }; }; }; return deep()()();",
    // Directives, comments and line ends.
    "#if UNITY_EDITOR\nreturn 1;\n#endif\nreturn 2;",
    "#if true\nreturn 1;\n#endif",
    "#if false\n}}} don't \"\n#else\nreturn 1;\n#endif // last",
    "#region Don't } \"\nreturn 1;\n#endregion",
    "#pragma warning disable 162, 168\nint unused; return 1;",
    "#line 200 \"Mine.cs\"\nreturn 1;\n#line default",
    "// first } \" '\nreturn 1; // last { \" '",
    "/* } \" ' { */ return /* } */ 1; /* } */",
    "var a = 1;\r\nreturn a;\r\n",
    "var a = 1; // comment\rreturn a; // comment\r",
    "\n\n\t return 1;\n\n",
    // Text that looks like code.
    r#"return "}}} {{{ \" */ // } using System.IO;";"#,
    r#"return @"a ""}"" \ " + '"' + '\'' + '{' + '\\';"#,
    r#"return $"{1:D2} {{}} {"}" + '}'} {new[] { 1 }.Length}";"#,
    r#"return $@"{"k"} ""}}"" \ {{ { Probe.Yes }";"#,
    "return @\"\nusing System.IO;\n#if false\n\";",
    "return \"[proxy-duplicate-suppressed] failed: not really\";",
    // Names that a wrapper might take, or lean on.
    "int r = 1, t = 2, b = 3, v = 4, e = 5, x = 6, k = 7, s = 8, f = 9, i = 10; return r + t + b + v + e + x + k + s + f + i;",
    "int key = 1, body = 2, value = 3, record = 4, result = 5, state = 6, ex = 7, error = 8, told = 9, code = 10; return key + body + value + record + result + state + ex + error + told + code;",
    "int System = 1, UnityEditor = 2, UnityEngine = 3, SessionState = 4, Application = 5, Func = 6, Exception = 7; return System + UnityEditor + UnityEngine + SessionState + Application + Func + Exception;",
    "int global = 1; global::System.Func<int, int> String = StringComparison => StringComparison + global; return String(2);",
    "Func<int, int> g = value => { Func<int, int> h = body => body + value; return h(1); }; return g(2);",
    "int @using = 1, @class = 2, größe = 3, \\u0065scaped = 4; return @using + @class + größe + escaped;",
    "var größe = \"日本語 – é\"; return größe;",
    // Statements of every other kind.
    "using (var a = new System.IO.MemoryStream()) using (var b = new System.IO.MemoryStream()) { return a.Length + b.Length; }",
    "lock (new object()) { const int c = 3; return unchecked(c + int.MaxValue); }",
    "int n; return int.TryParse(\"12\", out n) ? n : -1;",
    "foreach (var a in new[] { 1, 2, 3 }) { if (a == 1) continue; if (a == 3) break; Probe.Run(); }\nreturn Probe.Count;",
    "object o = null; return o?.ToString() ?? nameof(o);",
    "Func<IEnumerable<int>> lazy = () => Enumerable.Range(0, 3).Where(n => n != 1); return string.Join(\",\", lazy());",
    "return typeof(UnityEditor.SessionState).FullName + typeof(UnityEngine.Application).Name;",
];

/// C# 7: as above, for a compiler that knows it.
pub(crate) const WHOLE_7: &[&str] = &[
    "int.TryParse(\"12\", out var value); return value;",
    "var (body, key) = (1, 2); return body + key;",
    "object o = 1; if (o is int value) return value; return 2;",
    "return Probe.Yes ? 1_000 : throw new Exception();",
    "var list = new[] { 1, 2 }; ref int first = ref list[0]; first = 9; return list[0];",
    "Func<System.Threading.Tasks.Task<int>> f = async () => await System.Threading.Tasks.Task.FromResult(0b11); return f().Result;",
];

/// C# 6 that runs off its end: the compiler wants a `return` in the bare method; wrapped, it returns null.
pub(crate) const OPEN_ENDED: &[&str] = &[
    "// only a comment",
    "/* only a comment */",
    ";",
    "Debug.Log(\"x\");",
    "var a = 1;",
    "int unused;",
    "if (Probe.No) return 1;",
    "if (Probe.Yes) goto done;\nreturn 1;\ndone: ;",
    "while (Probe.No) { }",
    "foreach (var a in new[] { 1 }) { Probe.Run(); }",
    "Action a = () => { return; }; a();",
    "try { throw new Exception(); } catch { }",
    "switch (Probe.Count) { case -1: return 1; default: break; }",
    "switch (Probe.Count) { case -1: return 1; }",
    "#region nothing\n#endregion",
    "#if NEVER_DEFINED\n}}} don't \"\n#endif",
    "Debug.Log(\"x\"); // no line end",
    "{ }",
];

/// No method bodies: these break off, or close what they did not open. The wrapper must not complete them.
pub(crate) const BROKEN: &[&str] = &[
    "return 1",
    "var a =",
    "if (Probe.Yes)",
    "if (Probe.Yes) return 1; else",
    "for (;;)",
    "done:",
    "switch (1) { case 1:",
    "else { return 1; }",
    "{ return 1;",
    "return 1; }",
    "return 1; } }",
    "return (1;",
    "return 1; /*",
    "return \"open;",
    "#if true\nreturn 1;",
    "#region x\nreturn 1;",
    "using System.IO;\nreturn 1;",
];

/// A snippet that runs, and what comes of it.
pub(crate) struct Run {
    pub(crate) code: &'static str,
    /// How the first answer starts.
    pub(crate) first: &'static str,
    /// How the record starts.
    pub(crate) stored: &'static str,
    /// The outcome that later answers give, and a part of their text.
    pub(crate) later: (&'static str, &'static str),
}

const fn run(
    code: &'static str,
    first: &'static str,
    stored: &'static str,
    later: (&'static str, &'static str),
) -> Run {
    Run {
        code,
        first,
        stored,
        later,
    }
}

/// Every way for a snippet to end.
pub(crate) const RUNS: &[Run] = &[
    run(
        "return 42;",
        "= Int32 42",
        "completed: 42",
        ("succeeded", "not the value. Record: completed: 42"),
    ),
    run(
        "return new Custom();",
        "= Custom custom text",
        "completed: custom text",
        ("succeeded", "Record: completed: custom text"),
    ),
    run(
        "return \"a\\nb\";",
        "= String a\\nb",
        "completed: a\\nb",
        ("succeeded", "Record: completed: a\\nb"),
    ),
    run(
        "return \"\";",
        "= String ",
        "completed: ",
        ("succeeded", "ToString(), not the value"),
    ),
    run(
        "return null;",
        "= null",
        "completed with null",
        ("succeeded", "Record: completed with null"),
    ),
    run(
        "return \"null\";",
        "= String null",
        "completed: null",
        ("succeeded", "Record: completed: null"),
    ),
    run(
        "return \"failed: x\";",
        "= String failed: x",
        "completed: failed: x",
        ("succeeded", "Record: completed: failed: x"),
    ),
    run(
        "return new Mute();",
        "= Mute (none)",
        "completed: ",
        ("succeeded", "Record: completed: "),
    ),
    run(
        "return new Sulky();",
        "= Sulky (FormatException)",
        "completed: ToString() threw System.FormatException",
        ("succeeded", "threw System.FormatException"),
    ),
    run(
        "Debug.Log(1);",
        "= null",
        "completed with null",
        ("succeeded", "Record: completed with null"),
    ),
    run(
        "throw new InvalidOperationException(\"boom\");",
        "! InvalidOperationException boom",
        "failed: boom",
        ("failed", "Record: failed: boom"),
    ),
    run(
        "return Probe.Fail();",
        "! InvalidOperationException deep down from Probe.Fail",
        "failed: deep down",
        ("failed", "Record: failed: deep down"),
    ),
    run(
        "throw new Exception(\"\");",
        "! Exception ",
        "failed: ",
        ("failed", "did not land"),
    ),
    run(
        "throw new Riddle();",
        "! Riddle (FormatException)",
        "failed: Riddle",
        ("failed", "Record: failed: Riddle"),
    ),
    run(
        "object o = null; o.ToString();",
        "! NullReferenceException ",
        "failed: Object",
        ("failed", "did not land"),
    ),
    run(
        "throw null;",
        "! NullReferenceException ",
        "failed: ",
        ("failed", "did not land"),
    ),
];

// What the injected code and the test snippets use of Unity, and nothing more.
using System.Collections.Generic;

namespace UnityEngine
{
    public static class Application
    {
        public static string dataPath = "";
    }

    public static class Debug
    {
        public static void Log(object message) { }
    }

    // Clashes with System.Object and System.Random, as in Unity.
    public class Object { }
    public static class Random { }
}

namespace UnityEditor
{
    public static class SessionState
    {
        public static readonly SortedDictionary<string, string> All = new SortedDictionary<string, string>();

        public static string GetString(string key, string defaultValue)
        {
            string found;
            return All.TryGetValue(key, out found) ? found : defaultValue;
        }

        public static void SetString(string key, string value) { All[key] = value; }
    }
}

// The part of UnityEngine that Editor snippets in the tests touch. Plain objects in memory, no scene files.
using System;
using System.Collections.Generic;
using System.Linq;

namespace UnityEngine
{
    public static class Application
    {
        public static string dataPath { get; set; }
        public static string unityVersion { get { return "6000.0.30f1"; } }
        public static bool isPlaying { get { return false; } }
    }

    public static class Debug
    {
        // Not in Unity: what UnityEditor.LogEntries reads back.
        public static readonly List<string> Written = new List<string>();

        public static void Log(object message) { Written.Add(Convert.ToString(message)); }
        public static void LogWarning(object message) { Log(message); }
        public static void LogError(object message) { Log(message); }
    }

    // Shares its name with System.Random, as Object does with System.Object: the two ambiguities that snippets meet.
    public static class Random
    {
        static readonly System.Random source = new System.Random();
        public static float value { get { return (float)source.NextDouble(); } }
        public static int Range(int low, int high) { return source.Next(low, high); }
    }

    public class Object
    {
        static int created;
        readonly int id = --created;
        public string name { get; set; }
        public int GetInstanceID() { return id; }
        public override string ToString() { return name + " (" + GetType().FullName + ")"; }
        public static void DestroyImmediate(Object gone) { GameObject.All.Remove(gone as GameObject); }
    }

    public class ScriptableObject : Object { }
    public class Material : Object { }
    public class TextAsset : Object { }

    public class Component : Object
    {
        public GameObject gameObject { get; internal set; }
        public Transform transform { get { return gameObject.transform; } }
    }

    public class Transform : Component
    {
        public Transform parent { get; private set; }
        public int childCount { get { return Children.Count(); } }
        IEnumerable<Transform> Children { get { return GameObject.All.Select(g => g.transform).Where(t => t.parent == this); } }
        public void SetParent(Transform above) { parent = above; }
        public Transform GetChild(int index) { return Children.ElementAt(index); }
        // Unlike GameObject.Find this sees inactive objects; a path goes down one name at a time.
        public Transform Find(string path)
        {
            var at = this;
            foreach (var step in path.Split('/'))
                if (at != null) at = at.Children.FirstOrDefault(t => t.gameObject.name == step);
            return at;
        }
    }

    public class GameObject : Object
    {
        internal static readonly List<GameObject> All = new List<GameObject>();

        public GameObject(string name)
        {
            this.name = name;
            activeSelf = true;
            transform = new Transform { gameObject = this };
            All.Add(this);
        }

        public Transform transform { get; private set; }
        public bool activeSelf { get; private set; }
        public bool activeInHierarchy { get { return activeSelf && (transform.parent == null || transform.parent.gameObject.activeInHierarchy); } }
        public void SetActive(bool on) { activeSelf = on; }
        public static GameObject Find(string name) { return All.FirstOrDefault(g => g.name == name && g.activeInHierarchy); }
    }
}

namespace UnityEngine.SceneManagement
{
    public class Scene
    {
        public string path = "";
        public bool isDirty;
        public GameObject[] GetRootGameObjects() { return GameObject.All.Where(g => g.transform.parent == null).ToArray(); }
    }

    public static class SceneManager
    {
        // Not in Unity. The first one is the active one.
        public static readonly List<Scene> Loaded = new List<Scene> { new Scene { path = "Assets/Scenes/SampleScene.unity" } };
        public static Scene GetActiveScene() { return Loaded[0]; }
    }
}

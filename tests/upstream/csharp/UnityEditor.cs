// The part of UnityEditor that snippets in the tests touch. AssetDatabase works on the project's real files.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using UnityEngine;
using UnityEngine.SceneManagement;

namespace UnityEditor
{
    public static class EditorApplication
    {
        public static bool isCompiling { get { return false; } }
        public static bool isPlaying { get; set; }
    }

    public class Editor : ScriptableObject { }

    // Outlives a script domain: the host hands every value out after a snippet and gets them back in its successor.
    public static class SessionState
    {
        internal static readonly SortedDictionary<string, string> Values = new SortedDictionary<string, string>(StringComparer.Ordinal);

        public static object Dump() { return Values; }   // not in Unity
        public static string GetString(string key, string fallback) { string found; return Values.TryGetValue(key, out found) ? found : fallback; }
        public static void SetString(string key, string value) { Values[key] = value; }
        public static void EraseString(string key) { Values.Remove(key); }
        public static int GetInt(string key, int fallback) { return int.Parse(GetString(key, fallback.ToString())); }
        public static void SetInt(string key, int value) { SetString(key, value.ToString()); }
        public static void EraseInt(string key) { EraseString(key); }
        public static bool GetBool(string key, bool fallback) { return bool.Parse(GetString(key, fallback.ToString())); }
        public static void SetBool(string key, bool value) { SetString(key, value.ToString()); }
        public static void EraseBool(string key) { EraseString(key); }
    }

    // Internal in Unity too: only reflection gets at it.
    internal class LogEntry { public string message = "", file = ""; public int line = 0, mode = 0; }

    internal static class LogEntries
    {
        public static int GetCount() { return Debug.Written.Count; }
        public static int StartGettingEntries() { return GetCount(); }
        public static void EndGettingEntries() { }
        public static void Clear() { Debug.Written.Clear(); }
        public static bool GetEntryInternal(int row, LogEntry entry)
        {
            if (row < 0 || row >= GetCount()) return false;
            entry.message = Debug.Written[row];
            return true;
        }
    }

    public static class AssetDatabase
    {
        static string OnDisk(string asset) { return Path.Combine(Path.GetDirectoryName(Application.dataPath), asset); }
        static string Meta(string asset) { return OnDisk(asset) + ".meta"; }
        static bool Exists(string asset)
        {
            return !string.IsNullOrEmpty(asset) && (asset == "Assets" || asset.StartsWith("Assets/"))
                && (File.Exists(OnDisk(asset)) || Directory.Exists(OnDisk(asset)));
        }

        public static void Refresh() { foreach (var asset in GetAllAssetPaths()) AssetPathToGUID(asset); }
        public static void SaveAssets() { }
        public static bool IsValidFolder(string asset) { return Exists(asset) && Directory.Exists(OnDisk(asset)); }

        public static string[] GetAllAssetPaths()
        {
            var cut = OnDisk("").Length;
            return Directory.GetFileSystemEntries(OnDisk("Assets"), "*", SearchOption.AllDirectories)
                .Where(path => !path.EndsWith(".meta")).Select(path => path.Substring(cut)).OrderBy(path => path, StringComparer.Ordinal).ToArray();
        }

        public static string AssetPathToGUID(string asset)
        {
            if (!Exists(asset)) return "";
            if (!File.Exists(Meta(asset))) File.WriteAllText(Meta(asset), "fileFormatVersion: 2\nguid: " + Guid.NewGuid().ToString("N") + "\n");
            return File.ReadAllLines(Meta(asset)).First(line => line.StartsWith("guid: ")).Substring("guid: ".Length);
        }

        public static string GUIDToAssetPath(string guid) { return GetAllAssetPaths().FirstOrDefault(asset => AssetPathToGUID(asset) == guid) ?? ""; }

        public static string CreateFolder(string parent, string name)
        {
            if (!IsValidFolder(parent)) return "";
            Directory.CreateDirectory(OnDisk(parent + "/" + name));
            return AssetPathToGUID(parent + "/" + name);
        }

        public static bool DeleteAsset(string asset)
        {
            if (!Exists(asset)) return false;
            if (Directory.Exists(OnDisk(asset))) Directory.Delete(OnDisk(asset), true);
            else File.Delete(OnDisk(asset));
            File.Delete(Meta(asset));
            return true;
        }

        // Both follow Unity: an empty text means fine, anything else is the reason why not.
        public static string ValidateMoveAsset(string from, string to)
        {
            if (!Exists(from)) return "The source asset could not be found: " + from;
            if (Exists(to)) return "Destination path name does already exist: " + to;
            return IsValidFolder(Path.GetDirectoryName(to)) ? "" : "Parent directory is not in asset database: " + to;
        }

        public static string MoveAsset(string from, string to)
        {
            var refused = ValidateMoveAsset(from, to);
            if (refused != "") return refused;
            AssetPathToGUID(from);
            Directory.Move(OnDisk(from), OnDisk(to));
            File.Move(Meta(from), Meta(to));
            return "";
        }
    }
}

namespace UnityEditor.SceneManagement
{
    public enum NewSceneSetup { EmptyScene, DefaultGameObjects }
    public enum NewSceneMode { Single, Additive }
    public enum OpenSceneMode { Single, Additive }

    // Scene files are empty: of a scene only its path and its unsaved changes are known, and all have the same objects.
    public static class EditorSceneManager
    {
        static string OnDisk(string asset) { return Path.Combine(Path.GetDirectoryName(Application.dataPath), asset); }
        static Scene Add(string path, bool alone)
        {
            var scene = new Scene { path = path };
            if (alone) SceneManager.Loaded.Clear();
            SceneManager.Loaded.Add(scene);
            return scene;
        }

        public static bool SaveOpenScenes() { return true; }
        public static bool MarkSceneDirty(Scene scene) { return scene.isDirty = true; }
        public static Scene NewScene(NewSceneSetup setup, NewSceneMode mode) { return Add("", mode == NewSceneMode.Single); }
        public static Scene OpenScene(string path, OpenSceneMode mode)
        {
            if (!File.Exists(OnDisk(path))) throw new ArgumentException("Scene file not found: '" + path + "'.");
            return Add(path, mode == OpenSceneMode.Single);
        }
        public static bool SaveScene(Scene scene, string path)
        {
            File.WriteAllText(OnDisk(path), "%YAML 1.1\n");
            AssetDatabase.AssetPathToGUID(path);
            scene.path = path;
            scene.isDirty = false;
            return true;
        }
    }
}

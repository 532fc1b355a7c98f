// Stands for an installed tool kit whose namespace is none of the six that a snippet starts with.
namespace Ryan6Vrc.AgentTools.Editor
{
    public static class ReportConsole
    {
        public static string Run(string types, string filterText, int count)
        {
            return types + "|" + filterText + "|" + count;
        }
    }
}

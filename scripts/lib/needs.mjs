/** Entries that need a package which is not installed with them. The READMEs list them; a test compares. */
export const NEEDS = {
  'reprise/testing': '@reprise/testkit',
  'reprise/testing/ports': '@reprise/testkit',
  'reprise/testing/simulator': '@reprise/testkit',
  'reprise/mcp': '@modelcontextprotocol/client',
  'reprise/server': '@modelcontextprotocol/server',
};

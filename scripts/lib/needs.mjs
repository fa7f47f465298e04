/** Entries that need a package which is not installed with them. The READMEs list them; a test compares. */
export const NEEDS = {
  'reprise/testing/ports': 'fast-check',
  'reprise/mcp': '@modelcontextprotocol/client',
  'reprise/server': '@modelcontextprotocol/server',
};

/** MCP servers as toolsets of agents. */
export * from '@reprise/tools/mcp';

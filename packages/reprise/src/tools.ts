/** Tools for agents, and the parts of results that tools return. */
export { describeTools, isToolError, type Tool, type ToolPart, type ToolParts, toolParts } from '@reprise/agent';
export * from '@reprise/tools';

/** Tools for agents. */
export type { Tool } from '@reprise/agent';
export * from '@reprise/tools';

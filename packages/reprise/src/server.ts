/** The Model Context Protocol for a world: the message core of a server. */
export * from '@reprise/server';

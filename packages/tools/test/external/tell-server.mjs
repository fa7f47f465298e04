/* An MCP server with one tool, `tell`, which repeats a text for the holder of the token in its environment. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const { TELL_TOKEN: token = '', TELL_TURN: turn = '' } = process.env;

serveStdio(() => {
  const server = new McpServer({ name: 'tell', version: '1' });
  server.registerTool(
    'tell',
    { description: 'Repeats a text.', inputSchema: z.object({ text: z.string() }) },
    async ({ text }) => ({ content: [{ type: 'text', text: `told ${text} (${turn}) with ${token}` }] }),
  );
  return server;
});

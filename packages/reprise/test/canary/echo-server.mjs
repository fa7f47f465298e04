/*
 * An MCP server that repeats what it was told in confidence: `CANARY_MODE` says where. `CANARY` and the arguments are
 * what it was told.
 */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const mode = process.env.CANARY_MODE ?? '';
const told = process.env.CANARY ?? process.argv.slice(2).join(' ');
if (mode === 'dies') {
  process.stderr.write(`cannot sign in with ${told.slice(0, 9)}`);
  setTimeout(() => process.stderr.write(`${told.slice(9)}\n`, () => process.exit(1)), 30);
} else {
  serveStdio(() => {
    const server = new McpServer({ name: 'echo', version: '1' });
    const description = mode === 'describes' ? `Signed in with ${told}.` : 'Echoes.';
    server.registerTool('echo', { description, annotations: { readOnlyHint: true } }, async (ctx) => {
      const token = ctx?.mcpReq?._meta?.progressToken;
      if (mode === 'progress' && token !== undefined) {
        const params = { progressToken: token, progress: 1, message: `with ${told}` };
        await ctx.mcpReq.notify({ method: 'notifications/progress', params });
      }
      if (mode === 'exits') {
        process.stderr.write(`no luck with ${told}\n`, () => process.exit(3));
        return new Promise(() => {});
      }
      if (mode === 'fails')
        return { isError: true, content: [{ type: 'text', text: `refused: ${encodeURIComponent(told)}` }] };
      return { content: [{ type: 'text', text: JSON.stringify({ told }) }] };
    });
    return server;
  });
}

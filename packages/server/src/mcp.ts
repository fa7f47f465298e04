/**
 * The message core of an MCP server: lines in, lines out, whatever carries them.
 *
 * The protocol's own library negotiates its revision: the current one, and those that have sessions.
 *
 * Owns: tools, their arguments and answers, the bounds of a connection (`mcp-lines.ts`). Does not own: pipes, sockets and
 * HTTP, who the client is, what a call does.
 */

import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isFields, requireArgument, requireCallable } from '@reprise/contracts';
import { LineTransport } from './mcp-lines.js';
import { McpSessions } from './mcp-sessions.js';
import type { McpCore, McpServerOptions } from './mcp-types.js';

/**
 * Makes the message core of an MCP server.
 *
 * @example
 * const core = mcpServer({ name: 'clock', version: '1', tools: [now], call: async () => ({ texts: ['noon'], isError: false }) })
 * const connection = core.open({ write: (line) => process.stdout.write(`${line}\n`), ended: () => process.exit(1) })
 * process.stdin.on('data', (bytes) => connection.take(bytes)).on('end', () => connection.close())
 */
export function mcpServer(options: McpServerOptions): McpCore {
  requireArgument(
    isFields(options) && (Array.isArray(options.tools) || typeof options.tools === 'function'),
    'mcpServer(options)',
    'an object with name, version, tools and call',
    options,
  );
  requireCallable(options.call, 'mcpServer', 'options.call');
  return {
    open(wire) {
      const sessions = new McpSessions(options);
      const transport = new LineTransport(wire, options.lineBytesMax);
      const onerror = (error: Error): void => options.onError?.(error);
      const serving = serveStdio(({ era }) => sessions.make(era === 'legacy'), { transport, onerror });
      return {
        take: (bytes) => transport.take(bytes),
        toolsChanged: () => sessions.toolsChanged(),
        resourcesChanged: () => sessions.resourcesChanged(),
        resourceUpdated: (uri) => sessions.resourceUpdated(uri),
        close: () => serving.close(),
      };
    },
  };
}

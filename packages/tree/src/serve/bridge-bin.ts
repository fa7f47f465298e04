/**
 * The bridge beside a program: an MCP server on standard input and output. Its calls go to the process that owns the
 * world. `--run FILE` names the file with its socket and token.
 */

import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { escapeLine } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import { McpFailure, mcpServer } from '@reprise/server';
import { BRIDGE_PROGRESS_MS } from './limits.js';
import { ListRefused, OwnerLink, type RunFile } from './owner-link.js';

/** The error for a list that the owner refuses; the range is free for servers. */
const REFUSED = -32_001;

// A module that imports this one starts nothing.
if (realpathSync(process.argv[1] ?? '.') === realpathSync(fileURLToPath(import.meta.url))) {
  serveRun(process.argv[process.argv.indexOf('--run') + 1] ?? '');
}

/** Serves the program to which a run file belongs, until standard input ends; as a program this begins by itself. */
export function serveRun(file: string): void {
  const run = parseJson(readFileSync(file, 'utf8')) as RunFile;
  const link = new OwnerLink(run);
  const core = mcpServer({
    name: run.name,
    version: '1',
    ...(run.instructions === undefined ? {} : { instructions: run.instructions }),
    checks: 'call',
    tools: () =>
      link.tools().catch((error) => {
        throw error instanceof ListRefused ? new McpFailure(REFUSED, error.message) : error;
      }),
    async call({ key, name, args, progress }) {
      let notices = 0;
      const everyMs = run.progressMs ?? BRIDGE_PROGRESS_MS;
      const telling = setInterval(() => progress?.(++notices, 'waiting for the answer'), everyMs);
      try {
        return await link.call(key, name, args);
      } finally {
        clearInterval(telling);
      }
    },
    onError: (error) => process.stderr.write(`bridge: ${escapeLine(error.message)}\n`),
  });
  const connection = core.open({
    write: (line) => process.stdout.write(`${line}\n`),
    backlog: () => process.stdout.writableLength,
    ended: () => {
      link.close();
      process.stdin.destroy();
    },
  });
  link.onChanged = () => connection.toolsChanged();
  process.stdout.on('error', () => void connection.close());
  process.stdin.on('data', (bytes) => connection.take(bytes)).on('end', () => void connection.close());
}

/** Lets the person join through an MCP client. */
import { rmSync, writeFileSync } from 'node:fs';
import type { AgentWorld } from 'reprise';
import { bearerTokens, serveHttp } from 'reprise/server';
import { PERSON } from './research.js';

/** The name of the secret that signs tokens. */
export const SECRET = 'swarm_tokens';

/** A server that the person may join through. */
interface Joinable {
  /** What to type. */
  readonly words: string;
  leave(): Promise<void>;
}

/** Serves the world. */
export async function joinable(world: AgentWorld, file: string): Promise<Joinable> {
  const tokens = bearerTokens(world, { secret: SECRET });
  const serving = await serveHttp(world, { auth: tokens.auth, name: 'swarm' });
  const place = `${file}.mcp-token`;
  rmSync(place, { force: true });
  writeFileSync(place, await tokens.issue(`human:${PERSON}`, { for: '1d' }), { mode: 0o600, flag: 'wx' });
  const words = `Join in with an MCP client, as ${PERSON}:
  npx @modelcontextprotocol/inspector --cli ${serving.url} \\
    --transport http --header "Authorization: Bearer $(cat ${place})" \\
    --method tools/call --tool-name memory_search --tool-arg query=main`;
  const leave = async () => {
    await serving.close();
    rmSync(place, { force: true });
  };
  return { words, leave };
}

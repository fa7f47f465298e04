/*
 * An agent that mounts the MCP servers it is given. With `acp` it speaks the Agent Client Protocol: for the prompt
 * `call NAME TEXT` it calls the tool of each server, and it reports usage with each turn. Otherwise it reads its servers
 * from the file that its argument `--mcp-config` names, and prints one line of JSON. `MOUNTER_HOME` is a folder for its
 * sessions and notes.
 */
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const { MOUNTER_HOME: home = '' } = process.env;
const note = (what) => appendFileSync(path.join(home, 'notes'), `${JSON.stringify(what)}\n`);

/** Calls the tool `tell` of a server that it starts. */
async function tell({ command, args, env }, text) {
  const client = new Client({ name: 'mounter', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, env: { ...process.env, ...env } }));
  const { content } = await client.callTool({ name: 'tell', arguments: { text } });
  await client.close();
  return content.map((part) => part.text).join('');
}

const config = process.argv.find((arg) => arg.startsWith('--mcp-config='))?.slice('--mcp-config='.length);
if (config !== undefined) {
  const { mcpServers } = JSON.parse(readFileSync(config, 'utf8'));
  note({ config, mode: (statSync(config).mode & 0o777).toString(8), argv: process.argv.slice(2) });
  const said = [];
  for (const server of Object.values(mcpServers)) said.push(await tell(server, 'from a file'));
  process.stdout.write(JSON.stringify({ result: said.join(), usage: { input_tokens: 30, output_tokens: 7 } }));
} else {
  let servers = [];
  const open = (how, mcpServers) => {
    note({ how, mcpServers });
    servers = mcpServers.map(({ env, ...one }) => ({
      ...one,
      env: Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
    }));
  };
  const fileOf = (id) => path.join(home, `${id}.json`);
  agent({ name: 'mounter' })
    .onRequest(methods.agent.initialize, ({ params }) => ({
      protocolVersion: params.protocolVersion,
      agentCapabilities: { loadSession: true },
    }))
    .onRequest(methods.agent.session.new, ({ params }) => {
      open('new', params.mcpServers);
      const sessionId = `m${process.pid}`;
      writeFileSync(fileOf(sessionId), '{}');
      return { sessionId };
    })
    .onRequest(methods.agent.session.load, ({ params }) => {
      if (!existsSync(fileOf(params.sessionId))) throw new Error('no such session');
      open('load', params.mcpServers);
      return {};
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const text = params.prompt.map((part) => part.text).join('');
      const said = [];
      for (const server of servers) said.push(await tell(server, text));
      await client.notify(methods.client.session.update, {
        sessionId: params.sessionId,
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: said.join() } },
      });
      const usage = {
        totalTokens: 1_000,
        inputTokens: 600,
        outputTokens: 100,
        thoughtTokens: 50,
        cachedReadTokens: 250,
      };
      const odd = { ...usage, totalTokens: -1 };
      return { stopReason: text === 'refuse' ? 'refusal' : 'end_turn', usage: text === 'odd' ? odd : usage };
    })
    .onNotification(methods.agent.session.cancel, () => undefined)
    .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
}

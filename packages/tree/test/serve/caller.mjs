/*
 * A program that plays a script with the MCP server that it is given. The prompt is the script, one line of JSON: a list
 * of steps. It prints what each step gave, as JSON.
 *
 * With `--mcp-config=FILE` it runs once; otherwise it speaks the Agent Client Protocol and gets its servers there.
 * `--bridge=FILE` names a bridge that has been made into one file; it runs in the place of the sources of the bridge.
 */
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';

const option = (name) => process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(`--${name}=`.length);
const bridge = option('bridge');

/** A client of one MCP server, which sends what it is told. */
class Client {
  #next = 1;
  #waiting = new Map();
  notices = [];
  gone = false;

  constructor({ command, args, env }) {
    const program = bridge === undefined ? args : [bridge, ...args.slice(args.indexOf('--run'))];
    this.child = spawn(command, program, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
    this.child.on('exit', () => {
      this.gone = true;
      for (const resolve of this.#waiting.values()) resolve({ gone: true });
    });
    this.child.stdin.on('error', () => undefined);
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      if (message.method !== undefined) this.notices.push(message);
      else this.#waiting.get(message.id)?.(message);
    });
  }

  async begin() {
    await this.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'caller', version: '1' },
    });
    this.send({ method: 'notifications/initialized' });
  }

  send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  request(method, params, id = this.#next++) {
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.send({ id, method, params });
    });
  }

  async end() {
    this.child.stdin.end();
    if (!this.gone) await new Promise((resolve) => this.child.once('exit', resolve));
  }
}

const short = ({ result, error, gone }) => {
  if (gone) return { gone };
  if (error !== undefined) return { error: error.message };
  if (result.tools !== undefined) return { tools: result.tools.map(({ name }) => name) };
  const text = result.content.map((part) => part.text).join('\n');
  return result.isError ? { refused: text } : { text };
};

/**
 * Sends lines to the owner's socket, past the bridge. After a first line with the token it bears the name that it is
 * given, as a bridge does, before it goes on.
 */
function raw(runFile, lines, until) {
  const { socket, token } = JSON.parse(readFileSync(runFile, 'utf8'));
  return new Promise((resolve) => {
    const heard = [];
    const wire = createConnection(socket);
    let goOn;
    createInterface({ input: wire })
      .on('error', () => undefined)
      .on('line', (line) => {
        const { name, ...said } = JSON.parse(line);
        if (name !== undefined) {
          process.title = name;
          wire.write('{"named":true}\n');
        } else heard.push(said);
        goOn?.();
        goOn = undefined;
      });
    wire.on('close', () => {
      clearTimeout(ending);
      resolve(heard);
    });
    const ending = until === undefined ? undefined : setTimeout(() => wire.destroy(), until);
    wire.on('error', () => undefined);
    const write = (i) => {
      if (i === lines.length) return;
      const { flood, text } = lines[i];
      const said = text?.replaceAll('{token}', token) ?? 'x'.repeat(1024 * 1024);
      let left = flood ?? 1;
      const more = () => {
        while (left-- > 0) if (!wire.write(said)) return wire.once('drain', more);
        if (text?.includes('{token}')) goOn = () => write(i + 1);
        else write(i + 1);
      };
      more();
    };
    write(0);
  });
}

let kept;
let how;

async function play(servers, script) {
  const [server] = servers;
  const runFile = server?.args.at(-1);
  const client = kept ?? (server && new Client(server));
  if (client !== kept) await client?.begin();
  kept = script.some(({ keep }) => keep) ? client : undefined;
  const gave = [];
  for (const step of script) {
    const { call, args = {}, times = 1, id, notify } = step;
    if (step.how) gave.push(how);
    else if (step.save) writeFileSync(step.save, JSON.stringify(gave));
    else if (step.list) gave.push(short(await client.request('tools/list', {})));
    else if (step.wait) await new Promise((resolve) => setTimeout(resolve, step.wait));
    else if (step.note)
      writeFileSync(step.note, JSON.stringify({ runFile, server, pid: process.pid, argv: process.argv }));
    else if (step.raw) gave.push(await raw(runFile, step.raw));
    else if (step.late) {
      // When this turn has ended, in a program that lives on.
      setTimeout(
        async () => writeFileSync(step.late, JSON.stringify(await raw(runFile, step.lines, 1_000))),
        step.after,
      );
    } else if (step.second) {
      const other = new Client(server);
      await other.begin();
      gave.push(short(await other.request('tools/list', {})));
      await other.end();
    } else if (step.print) gave.push(readFileSync(runFile, 'utf8'));
    else if (step.copy) copyFileSync(runFile, step.copy);
    else if (step.until) while (!existsSync(step.until)) await new Promise((resolve) => setTimeout(resolve, 50));
    else if (step.exec) execFileSync(process.execPath, step.exec, { stdio: ['ignore', 'inherit', 'inherit'] });
    else if (step.die) process.exit(3);
    else if (call) {
      const params = { name: call, arguments: args, ...(notify ? { _meta: { progressToken: 1 } } : {}) };
      let last;
      for (let n = 0; n < times; n++) {
        const answering = client.request('tools/call', params, id);
        if (step.atOnce !== true) last = await answering;
        else last = answering;
      }
      gave.push(short(await last));
    }
  }
  if (script.some(({ notices }) => notices)) gave.push({ notices: client.notices.map(({ method }) => method) });
  if (kept === undefined) await client?.end();
  return JSON.stringify(gave);
}

/** The script in a prompt: an earlier conversation may stand before it. */
const scriptIn = (prompt) => {
  const last = prompt.split('The new message:\n\n').at(-1);
  const [, node] = /You are node #(\d+)/.exec(last) ?? [];
  return node === undefined ? JSON.parse(last) : scriptOf(node, last);
};

/** The script of a node of a tree: `CALLER_PLAN` names a file of them, by node and by what its prompt holds. */
const scriptOf = (node, prompt) => {
  const plan = JSON.parse(readFileSync(process.env.CALLER_PLAN, 'utf8'));
  const [, script] = plan.find(([when]) => when.every((text) => `node ${node}\n${prompt}`.includes(text))) ?? [];
  return script ?? [{ call: 'complete', args: { result: `done by #${node}` } }];
};

const config = option('mcp-config');
if (config !== undefined) {
  const { mcpServers } = JSON.parse(readFileSync(config, 'utf8'));
  process.stdout.write(await play(Object.values(mcpServers), scriptIn(readFileSync(0, 'utf8'))));
  process.exit(0);
} else {
  const { agent, methods, ndJsonStream } = await import('@agentclientprotocol/sdk');
  let servers = [];
  const open = (given) => {
    servers = given.map((one) => ({
      ...one,
      env: Object.fromEntries(one.env.map(({ name, value }) => [name, value])),
    }));
  };
  agent({ name: 'caller' })
    .onRequest(methods.agent.initialize, ({ params }) => ({
      protocolVersion: params.protocolVersion,
      agentCapabilities: { loadSession: true },
    }))
    .onRequest(methods.agent.session.new, ({ params }) => {
      how = 'new';
      open(params.mcpServers);
      return { sessionId: 'one' };
    })
    .onRequest(methods.agent.session.load, ({ params }) => {
      how = 'load';
      open(params.mcpServers);
      return {};
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const text = await play(servers, scriptIn(params.prompt.map((part) => part.text).join('')));
      const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
      await client.notify(methods.client.session.update, { sessionId: params.sessionId, update });
      return { stopReason: 'end_turn' };
    })
    .onNotification(methods.agent.session.cancel, () => undefined)
    .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
}

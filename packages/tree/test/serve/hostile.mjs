/*
 * What a hostile program of a tree tries. Its argument is JSON: where the world is, the run files of other nodes, the
 * programs that it uses, and the file in which it notes what it got.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';

const { world, home, sibling, ended, asker, pty, out } = JSON.parse(process.argv[2]);

/** Sends a first line, does what the owner asks for, and sends a second one. @returns what was heard */
function talk(socket, first, second) {
  return new Promise((resolve) => {
    const heard = [];
    const wire = createConnection(socket).on('error', () => undefined);
    setTimeout(() => wire.destroy(), 3_000).unref();
    createInterface({ input: wire })
      .on('error', () => undefined)
      .on('line', (line) => {
        const said = JSON.parse(line);
        heard.push(said);
        if (said.name !== undefined) {
          process.title = said.name;
          wire.write(`${JSON.stringify(second)}\n`);
        } else if (said.ok === true)
          wire.write(`${JSON.stringify({ call: 'h.1', name: 'spawn', args: { goal: 'x' } })}\n`);
      });
    wire.on('close', () => resolve(heard));
    wire.write(`${JSON.stringify(first)}\n`);
  });
}

const asNode = (file) => {
  const { socket, token } = JSON.parse(readFileSync(file, 'utf8'));
  return talk(socket, { hello: 'program', token, start: 'hhhhhhhh' }, { named: true });
};

const noted = {};
const { socket: programs } = JSON.parse(readFileSync(sibling, 'utf8'));
const doors = readFileSync('/proc/net/unix', 'utf8')
  .split('\n')
  .map((line) => line.split(' ').at(-1))
  .filter((name) => name.startsWith(path.dirname(programs)) && name !== programs && !name.startsWith(`${programs}.`));
noted.doors = [...new Set(doors.map((name) => path.dirname(name)))];
const [door] = noted.doors;

// 1. People's commands at its own socket.
noted.own = await talk(programs, { hello: 'command' }, {});
// 2. At the people's door, which every process of the user sees in the list of sockets, without its key.
const command = JSON.stringify({ coming: 'terminal', verb: 'stop', args: { tree: 'work', n: 1, as: 'human:ann' } });
noted.forged = await talk(
  path.join(door, 'door'),
  { hello: 'people', door: path.basename(door), by: 'pass', nonce: 'n' },
  { command, signed: 'x'.repeat(43) },
);
noted.guessed = await talk(path.join(door, 'door'), {
  hello: 'people',
  door: '0123456789abcdef',
  by: 'token',
  nonce: 'n',
});
// 3. As a person: with the pass of the home folder, which it was not told of, also in a terminal and an empty environment.
const answers = [1, 2, 3].map((n) => `${out}.${n}`);
const ask = (to) => [asker, `--world=${world}`, `--out=${to}`];
execFileSync(process.execPath, ask(answers[0]), {
  env: { ...process.env, XDG_STATE_HOME: home, XDG_RUNTIME_DIR: process.env.RT },
});
const env = { XDG_STATE_HOME: home, XDG_RUNTIME_DIR: process.env.RT, PATH: process.env.PATH };
const atTerminal = spawn('python3', [pty, '80', '24', process.execPath, ...ask(answers[1])], {
  env,
  stdio: ['pipe', 'ignore', 'ignore'],
});
await new Promise((resolve) => atTerminal.once('close', resolve));
spawnSync('setsid', ['-w', process.execPath, ...ask(answers[2])], { env, stdio: 'ignore' });
noted.asPerson = answers.map((file) => JSON.parse(readFileSync(file, 'utf8')));
// 4. As other nodes.
noted.asSibling = await asNode(sibling);
noted.asEnded = await asNode(ended);
// 5. What it is told, and what every process of the user is shown of others.
const parents = [process.pid, process.ppid];
for (const pid of parents) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  if (parent > 1 && !parents.includes(parent)) parents.push(parent);
}
const shown = (pid) => ['environ', 'cmdline'].map((what) => read(`/proc/${pid}/${what}`)).join('\n');
const folder = programs.replace(/\.sock$/, '');
noted.told = [
  JSON.stringify(process.env),
  ...parents.map(shown),
  ...readdirSync(folder).map((name) => read(path.join(folder, name))),
].join('\n');

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

mkdirSync(path.dirname(out), { recursive: true });
writeFileSync(out, JSON.stringify(noted));

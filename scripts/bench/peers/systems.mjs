import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../../lib/postgres.mjs';
import { ROOT } from '../../lib/root.mjs';
import { bundleTree } from '../turns/bundle-tree.mjs';
import { installed } from './install.mjs';
import { Subject } from './subject.mjs';

/** The versions that are measured; `langgraph` builds better-sqlite3 from its sources, which takes minutes. */
const PACKAGES = {
  temporal: { '@temporalio/worker': '1.24.0', '@temporalio/workflow': '1.24.0', '@temporalio/proto': '1.24.0' },
  dbos: { '@dbos-inc/dbos-sdk': '5.3.0' },
  langgraph: {
    '@langchain/langgraph': '1.7.3',
    '@langchain/core': '1.4.0',
    '@langchain/langgraph-checkpoint-sqlite': '1.0.4',
    'better-sqlite3': '12.11.1',
  },
  restate: { '@restatedev/restate-server': '1.7.12', '@restatedev/restate-sdk': '1.17.2' },
};

// One version of protobuf for all of Temporal: two in one tree do not know each other's types.
const OVERRIDES = { temporal: { protobufjs: '8.8.1' } };

/**
 * What is measured: the title, how durable it is, and how it is started. `counts: false` marks a row that is shown and
 * not compared with, because it promises less.
 */
export const DURABLE = [
  { key: 'reprise', title: 'Reprise, SQLite', durability: 'in process; every commit synced', start: reprise },
  {
    key: 'reprise-postgres',
    title: 'Reprise, PostgreSQL',
    durability: 'with a database server; fsync, synchronous_commit',
    start: (places) => reprisePostgres(places),
  },
  {
    key: 'reprise-worlds',
    title: 'Reprise, PostgreSQL, a world a session',
    durability: 'with a database server; fsync, synchronous_commit',
    start: (places) => reprisePostgres(places, 'worlds'),
  },
  {
    key: 'dbos',
    title: 'DBOS, PostgreSQL',
    durability: 'with a database server; fsync, synchronous_commit',
    start: dbos,
  },
  {
    key: 'restate',
    title: 'Restate',
    durability: 'with its server; log synced',
    start: restate,
  },
  {
    key: 'langgraph-tasks',
    title: 'LangGraph, SQLite, tasks',
    durability: 'in process; every commit synced',
    start: (places) => langGraph(places, 'tasks', 'full'),
  },
  {
    key: 'langgraph-graph',
    title: 'LangGraph, SQLite, graph',
    durability: 'in process; every commit synced',
    start: (places) => langGraph(places, 'graph', 'full'),
  },
  {
    key: 'langgraph-unsynced',
    title: 'LangGraph, SQLite, tasks, as shipped',
    durability: 'in process; commits not synced, lost with the power',
    start: (places) => langGraph(places, 'tasks', 'normal'),
    counts: false,
  },
];

/** The same for replay: both on one core. */
export const REPLAY = [
  { key: 'reprise', title: 'Reprise, verify', start: (places) => reprise(places, true) },
  { key: 'temporal', title: 'Temporal, runReplayHistory', start: temporal },
];

/** The versions of a system, for the report. */
export function versionsOf(key) {
  const packages = PACKAGES[key.split('-')[0]] ?? {};
  return Object.entries(packages)
    .map((pair) => pair.join('@'))
    .join(', ');
}

async function reprise({ scratch }, pinned = false) {
  const program = await bundleTree(ROOT, 'peers', new URL('programs/reprise.mjs', import.meta.url));
  const file = path.join(scratch, pinned ? 'replay.db' : 'effects.db');
  return stoppable(await Subject.start(program, [file], { cwd: scratch, pinned }));
}

async function reprisePostgres({ scratch }, ...form) {
  const program = await bundleTree(ROOT, 'peers', new URL('programs/reprise.mjs', import.meta.url));
  const database = await startPostgres(path.join(scratch, `postgres-reprise-${form.join('') || 'one'}`));
  try {
    const options = { cwd: scratch, servers: [database.pid] };
    return stoppable(await Subject.start(program, [database.url, ...form], options), database.stop);
  } catch (error) {
    await database.stop();
    throw error;
  }
}

async function temporal({ peers }) {
  const cwd = await installed(peers, systemOf('temporal'));
  return stoppable(await Subject.start('temporal.mjs', [], { cwd, pinned: true }));
}

async function dbos({ peers, scratch }) {
  const cwd = await installed(peers, systemOf('dbos'));
  const database = await startPostgres(path.join(scratch, 'postgres'));
  try {
    return stoppable(await Subject.start('dbos.mjs', [database.url], { cwd, servers: [database.pid] }), database.stop);
  } catch (error) {
    await database.stop();
    throw error;
  }
}

async function langGraph({ peers, scratch }, form, sync) {
  const cwd = await installed(peers, systemOf('langgraph'));
  const file = path.join(scratch, `langgraph-${form}-${sync}.db`);
  return stoppable(await Subject.start('langgraph.mjs', [file, form, sync], { cwd }));
}

async function restate({ peers, scratch }) {
  const cwd = await installed(peers, systemOf('restate'));
  const [node, admin, ingress, sdk] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const home = path.join(scratch, 'restate');
  await mkdir(home);
  const config = [
    'disable-telemetry = true',
    'listen-mode = "tcp"',
    'log-filter = "off"',
    `base-dir = "${home}"`,
    `bind-address = "127.0.0.1:${node}"`,
    `advertised-address = "http://127.0.0.1:${node}/"`,
    `[admin]\nbind-address = "127.0.0.1:${admin}"\ndisable-web-ui = true`,
    `[ingress]\nbind-address = "127.0.0.1:${ingress}"`,
  ];
  await writeFile(path.join(home, 'restate.toml'), `${config.join('\n')}\n`);
  const binary = path.join(cwd, `node_modules/@restatedev/restate-server-linux-${process.arch}/bin/restate-server`);
  const server = spawn(binary, ['--no-logo', '--config-file', path.join(home, 'restate.toml')], { stdio: 'ignore' });
  const stop = async () => void server.kill('SIGKILL');
  try {
    await answers(`http://127.0.0.1:${admin}/health`);
    await answers(`http://127.0.0.1:${ingress}/restate/health`);
    const args = [sdk, ingress, admin].map(String);
    return stoppable(await Subject.start('restate.mjs', args, { cwd, servers: [server.pid] }), stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

function systemOf(name) {
  return { name, packages: PACKAGES[name], overrides: OVERRIDES[name] };
}

/** A subject whose servers stop with it. */
function stoppable(subject, stopServers = async () => undefined) {
  return {
    execute: (task) => subject.execute(task),
    stop: async () => {
      subject.stop();
      await stopServers();
    },
  };
}

/** Waits until a server answers, half a minute at most. */
async function answers(url) {
  for (let tries = 0; tries < 120; tries++) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`${url} does not answer`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The folder of the programs, for messages. */
export const PROGRAMS = fileURLToPath(new URL('programs', import.meta.url));

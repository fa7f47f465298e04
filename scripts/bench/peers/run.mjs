/*
 * Durable effects and their replay beside other systems, all in one run:
 *
 *   npm run bench -- --only peers [--effects 1000] [--sessions 32] [--replay 2000] [--rounds 3] [--system NAME …]
 *       [--folder FOLDER] [--out FILE]
 *
 * An effect is a function that returns its number. The next one starts when the result of the one before is durable. A
 * session is a plan, a workflow, a thread or an invocation that executes effects one after the other.
 *
 * The other systems are installed on first use into a folder of the system's temporary ones, or `--folder`; they are no
 * dependencies of this repository. DBOS gets a PostgreSQL server of its own (`initdb` and `pg_ctl` on the PATH). All
 * processes are started once; then the systems take turns, and a figure is the best of the rounds. CPU is that of all
 * processes of a system, servers included. Replay is on one core (`taskset`).
 */
import '../../lib/node-version.mjs';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { columns } from '../../lib/columns.mjs';
import { DURABLE, REPLAY, versionsOf } from './systems.mjs';

const { values: options } = parseArgs({
  options: {
    effects: { type: 'string', default: '1000' },
    sessions: { type: 'string', default: '32' },
    replay: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    system: { type: 'string', multiple: true },
    folder: { type: 'string', default: path.join(tmpdir(), 'reprise-bench-peers') },
    out: { type: 'string' },
  },
});
const [effects, sessions, replayed] = [Number(options.effects), Number(options.sessions), Number(options.replay)];
const rounds = Number(options.rounds);
const isChosen = ({ key }) => options.system === undefined || options.system.includes(key.split('-')[0]);

const scratch = await mkdtemp(path.join(tmpdir(), 'reprise-bench-'));
await chmod(scratch, 0o755); // the account of PostgreSQL passes through it
await mkdir(options.folder, { recursive: true });
try {
  const durable = await measured(DURABLE.filter(isChosen), durableTasks);
  const replay = await measured(REPLAY.filter(isChosen), replayTasks);
  await report({ durable, replay });
} finally {
  await rm(scratch, { recursive: true, force: true });
}

/** The tasks of durable effects, after a warm-up. */
function durableTasks() {
  const many = Math.max(1, Math.round(effects / 10));
  return {
    warmup: [
      { sessions: 1, effects: 200 },
      { sessions, effects: 20 },
    ],
    one: { sessions: 1, effects },
    many: { sessions, effects: many },
  };
}

function replayTasks(key) {
  const task = { what: 'replay', sessions: 1, effects: replayed };
  // Reprise replays what it has recorded; a history of Temporal is written by hand.
  const record = key === 'reprise' ? [{ sessions: 1, effects: replayed }] : [];
  return { warmup: [...record, task], one: task };
}

/** Starts systems, lets them take turns, and stops them. @returns by system, the best of each task */
async function measured(systems, tasksOf) {
  const running = [];
  try {
    for (const system of systems) {
      const { warmup, ...tasks } = tasksOf(system.key);
      const subject = await started(system);
      running.push({ system, tasks, best: {}, ...subject });
      for (const task of warmup) await subject.execute?.(task);
    }
    for (let round = 0; round < rounds; round++) await oneRound(rotated(running, round + Number(options.seed)));
  } finally {
    for (const { stop } of running) await stop?.();
  }
  return running.map(({ system, best, refused }) => ({
    key: system.key,
    title: system.title,
    durability: system.durability,
    counts: system.counts ?? true,
    versions: versionsOf(system.key),
    refused,
    ...best,
  }));
}

/** A system that does not start here is a row with its error. */
async function started({ title, start }) {
  try {
    return await start({ peers: options.folder, scratch });
  } catch (error) {
    console.error(`${title}: ${error.message}`);
    return { refused: String(error.message).split('\n')[0] };
  }
}

async function oneRound(running) {
  console.log(`load ${loadavg()[0].toFixed(1)}`);
  for (const { system, tasks, best, execute } of running) {
    if (execute === undefined) continue;
    for (const [name, task] of Object.entries(tasks)) {
      const { ms, cpu, effects: count } = await execute(task);
      const [perSecond, perCpuSecond] = [(count / ms) * 1_000, (count / cpu) * 1_000];
      const known = best[name] ?? { perSecond: 0, perCpuSecond: 0 };
      best[name] = {
        perSecond: Math.max(known.perSecond, perSecond),
        perCpuSecond: Math.max(known.perCpuSecond, perCpuSecond),
      };
      console.log(`  ${system.title}, ${name}: ${perSecond.toFixed(0)}/s, ${perCpuSecond.toFixed(0)} a CPU second`);
    }
    best.syncs = Math.max(best.syncs ?? 0, syncsPerSecond());
  }
}

/** The floor of one session: small writes to a file, each followed by fdatasync, a second. */
function syncsPerSecond() {
  const descriptor = openSync(path.join(scratch, 'floor'), 'a');
  const bytes = Buffer.alloc(512, 7);
  const began = performance.now();
  for (let i = 0; i < 200; i++) {
    writeSync(descriptor, bytes);
    fdatasyncSync(descriptor);
  }
  closeSync(descriptor);
  return 200_000 / (performance.now() - began);
}

function rotated(list, by) {
  const at = by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

async function report({ durable, replay }) {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
  const shown = (figure) => (figure === undefined ? '–' : Math.round(figure).toLocaleString('en'));
  console.log(
    `\n${machine}; best of ${rounds} rounds; ${effects} effects in one session, ${effects / 10} in each of ${sessions}`,
  );
  const floor = Math.max(...durable.map(({ syncs }) => syncs ?? 0));
  console.log(`durable effects; floor: ${shown(floor)} synced writes a second`);
  console.log(
    columns([
      ['', '1 session, /s', 'a CPU second', `${sessions} sessions, /s`, 'a CPU second', 'durability', 'versions'],
      ...durable.map(({ title, one, many, durability, versions, refused }) => [
        title,
        ...[one?.perSecond, one?.perCpuSecond, many?.perSecond, many?.perCpuSecond].map(shown),
        refused ?? durability,
        versions,
      ]),
    ]),
  );
  console.log('\nreplay on one core');
  console.log(
    columns([
      ['', 'effects a CPU second', 'effects a second', 'versions'],
      ...replay.map(({ title, one, versions, refused }) => [
        title,
        shown(one?.perCpuSecond),
        shown(one?.perSecond),
        refused ?? versions,
      ]),
    ]),
  );
  const rows = rowsOf({ durable, replay });
  for (const [title, ratio] of rows) console.log(`${title}: ${ratio.toFixed(2)} ×`);
  if (options.out === undefined) return;
  const figures = { machine, date: new Date().toISOString().slice(0, 10), ...options, floor, durable, replay };
  await writeFile(options.out, `${JSON.stringify({ ...figures, rows: Object.fromEntries(rows) }, null, 2)}\n`);
}

/** Reprise beside the best of the others, where both were measured, and what a failure left out of the comparison. */
function rowsOf({ durable, replay }) {
  const ratio = (title, list, figure) => {
    const ours = list.find(({ key }) => key === 'reprise');
    const others = list.filter((one) => !one.key.startsWith('reprise') && one.counts);
    const best = Math.max(...others.map(figure).filter((found) => found !== undefined));
    const unmeasured = others.filter((one) => figure(one) === undefined).map((one) => one.title);
    const without = unmeasured.length === 0 ? '' : ` (not measured: ${unmeasured.join('; ')})`;
    return ours === undefined || !(best > 0) ? [] : [[`${title}${without}`, figure(ours) / best]];
  };
  return [
    ...ratio('effects replayed a CPU second, beside Temporal', replay, ({ one }) => one?.perCpuSecond),
    ...ratio('durable effects a second, one session, beside the best other', durable, ({ one }) => one?.perSecond),
    ...ratio(
      `durable effects a CPU second, ${sessions} sessions, beside the best other`,
      durable,
      ({ many }) => many?.perCpuSecond,
    ),
  ];
}

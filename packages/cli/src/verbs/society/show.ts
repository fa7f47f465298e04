/** `reprise society show`: the people and agents of a world, their groups, swarms and trust. */
import { shortKey } from '@reprise/operators/names';
import {
  type SocietyEntity,
  type SocietyGroup,
  type SocietyReport,
  type SocietySwarm,
  type SocietyTrust,
  type SwarmResult,
  societyOf,
} from '@reprise/operators/society';
import type { Io } from '../../process/io.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { wrapToColumns } from '../../text/layout.js';
import { chooseApp } from '../../world/app.js';
import { allPackages } from '../../world/built-in.js';
import { withWorld } from '../../world/open.js';

interface ShowSocietyArguments {
  readonly at?: number;
  readonly app?: string;
  readonly legacy?: readonly string[];
  readonly json?: true;
}

/** Prints the society of a world. */
export async function showSociety(io: Io, world: string, options: ShowSocietyArguments): Promise<void> {
  const { at, json } = options;
  const report = await withWorld(world, async (store) => {
    const { app = (await allPackages()).app, legacy } = await chooseApp(store, options);
    return societyOf(store, { app, legacy }, at === undefined ? {} : { at });
  });
  await io.out.write(json === true ? `${toJson(report)}\n` : textOf(report, world, io.out.columns));
}

function textOf(report: SocietyReport, world: string, columns: number | undefined): string {
  const { frame, entities, groups, swarms, trust } = report;
  const lines = [
    entities.length === 0 ? `${world}: no society, after frame ${frame}` : `${world}, after frame ${frame}`,
    ...entities.map(lineOfEntity),
    ...groups.flatMap(linesOfGroup),
    ...swarms.flatMap(linesOfSwarm),
    ...(trust.length === 0 ? [] : ['trust']),
    ...trust.map(lineOfTrust),
  ].map((line) => escapeLine(shortKey(line)));
  return lines.map((line) => `${columns === undefined ? line : wrapToColumns(line, columns, 4)}\n`).join('');
}

type Named = SocietyTrust['agent'];

/** The digits behind the name of an agent, whose name others may have too. */
const DIGITS = 4;

/** A person by the name; an agent by its name and the beginning of its id, as `log` prints it. */
function nameOf({ id, name }: Named): string {
  return /^[0-9a-f]{64}$/.test(id) ? `${name}·${id.slice(0, DIGITS)}` : id;
}

function lineOfEntity(entity: SocietyEntity): string {
  const { kind, status, reason, parent, depth, tier } = entity;
  const made = parent === null ? '' : `, made by ${nameOf(parent)}, trust ${tier}`;
  const why = status === 'active' || kind === 'person' ? '' : ` (${reason})`;
  return `${'  '.repeat(depth)}${nameOf(entity)}: ${kind}, ${status}${why}${made}`;
}

function linesOfGroup({ id, kind, standing, emcon, members }: SocietyGroup): readonly string[] {
  const head = `group ${id}: ${standing}${kind === 'swarm' ? ', of a swarm' : ''}${emcon ? ', emergency: writes are refused' : ''}`;
  return [
    head,
    ...members.map((one) => `  ${nameOf(one)}: ${one.role}${one.tier === null ? '' : `, trust ${one.tier}`}`),
  ];
}

function linesOfSwarm(swarm: SocietySwarm): readonly string[] {
  const { id, status, strategy, stage, stages, goal, creator, code, slots, open, spent, results, result } = swarm;
  const where = strategy === 'pipeline' ? `, stage ${stage + 1} of ${stages}` : '';
  const end = code === null ? '' : `, ${code}`;
  return [
    `swarm ${id}: ${status}${end}, ${strategy}${where}, by ${nameOf(creator)}, ${open} open tasks, ${spent.tokens} tokens`,
    ...(goal === null ? [] : [`  goal: ${goal}`]),
    ...slots.map(
      ({ slot, index, agent, phase, task }) =>
        `  ${slot} ${index}: ${agent === null ? 'no agent' : nameOf(agent)}, ${phase}${task === null ? '' : `, task ${task}`}`,
    ),
    ...results.map(lineOfResult),
    ...(result === null ? [] : ['  result', ...result.split('\n').map((line) => `    ${line}`)]),
  ];
}

/** What an agent of a swarm found: a candidate of the swarm's result. */
function lineOfResult({ task, slot, index, status, attempt, code, words }: SwarmResult): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  const end = code === null ? '' : `, ${code}`;
  return `  task ${task}, ${slot} ${index}: ${status}${end}${again}${words === null ? '' : `: ${words}`}`;
}

function lineOfTrust({ observer, agent, score_ppm, observations, tier }: SocietyTrust): string {
  const score = (score_ppm / 1_000_000).toFixed(2);
  return `  ${nameOf(observer)} of ${nameOf(agent)}: ${tier}, ${score} from ${observations} verdicts`;
}

/**
 * The surveyor's rules: they decide the next step from what it knows.
 *
 * Invariants
 * S1  It decides from the request alone: no clock, no random numbers, no memory of earlier requests.
 * S2  It ends: at most `STEPS_MAX` answers with calls, at most `CALLS_MAX` calls in one, no call repeated that gave a
 *     result or was refused, no other call made more than twice.
 */
import type { Conversation } from './conversation.js';
import {
  callKey,
  type Entry,
  type Findings,
  files,
  gather,
  isPassedOver,
  levelsBelow,
  nameOf,
  order,
} from './findings.js';
import { writeReport } from './report.js';
import { UNFINISHED, unfinishedLines } from './unfinished.js';

/** The maximum number of answers with calls, including the one that writes the report. */
const STEPS_MAX = 20;
/** The maximum number of calls in one answer. */
const CALLS_MAX = 6;
/** How many folders are listed, and how many descriptions read, before it goes on to the next question. */
const LISTINGS_MAX = 36;
const DESCRIPTIONS_MAX = 12;

const REPORT_DEFAULT = 'SURVEY.md';

/** A call the surveyor wants to make. */
export interface WantedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The surveyor's answer: calls, or the final text. */
export type Decision = { readonly calls: readonly WantedCall[] } | { readonly text: string };

/** Decides the next step of a survey. */
export function decide(conversation: Conversation): Decision {
  const found = gather(conversation);
  const report = reportPath(conversation);
  if (found.done.has(callKey('write_file', { path: report }))) return { text: lastWord(found, report) };
  if (conversation.steps < STEPS_MAX - 2) {
    for (const want of [listRoot, explore, searchUnfinished, peek]) {
      const calls = possible(want(found, report), conversation, found);
      if (calls.length > 0) return { calls };
    }
  }
  return conclude(conversation, found, report);
}

/** Writes the report; if that is impossible, answers with it. */
function conclude(conversation: Conversation, found: Findings, report: string): Decision {
  const text = writeReport(found, report, conversation.exchanges.length);
  const write: WantedCall = { tool: 'write_file', args: { path: report, text } };
  const calls = conversation.steps < STEPS_MAX ? possible([write], conversation, found) : [];
  return calls.length > 0 ? { calls } : { text: `I could not write ${report}, so here it is.\n\n${text}` };
}

/** The path of the report: the last Markdown file that the user mentioned. */
function reportPath({ asked }: Conversation): string {
  const mentions = asked.flatMap((text) => text.match(/(?<![\w./-])[\w-][\w.-]*(?:\/[\w-][\w.-]*)*\.md\b/g) ?? []);
  return mentions.at(-1) ?? REPORT_DEFAULT;
}

/** The wanted calls whose tools are available and that S2 permits. */
function possible(wanted: readonly WantedCall[], { tools }: Conversation, found: Findings): WantedCall[] {
  return wanted
    .filter(({ tool, args }) => {
      const key = callKey(tool, args);
      return tools.has(tool) && !found.done.has(key) && !found.refused.has(key) && (found.failures.get(key) ?? 0) < 2;
    })
    .slice(0, CALLS_MAX);
}

function listRoot(): WantedCall[] {
  return [
    { tool: 'count_files', args: {} },
    { tool: 'list_files', args: { path: '.', depth: 1 } },
  ];
}

/** Reads folders and descriptions alternately, so that the report can combine both. */
function explore(found: Findings, report: string): WantedCall[] {
  const made = (tool: string) => [...found.done].filter((key) => key.startsWith(`${tool} `)).length;
  const descriptionsLeft = Math.min(3, DESCRIPTIONS_MAX - made('read_file'));
  const listingsLeft = Math.max(0, LISTINGS_MAX - made('list_files'));
  // Descriptions are short and explain the folders, so they come first; folders fill the rest.
  return [
    ...descriptions(found, report)
      .slice(0, Math.max(0, descriptionsLeft))
      .map((path) => ({ tool: 'read_file', args: { path, limit: 60 } })),
    ...foldersToEnter(found)
      .slice(0, listingsLeft)
      .map((path) => ({ tool: 'list_files', args: { path, depth: 2 } })),
  ];
}

const DESCRIPTION =
  /^(readme(\.\w+)?|package\.json|pyproject\.toml|setup\.py|cargo\.toml|go\.mod|pom\.xml|build\.gradle|composer\.json|gemfile|makefile|dockerfile|architecture\.md|contributing\.md)$/i;

/** READMEs and manifests that were listed but not read, the shallowest first. */
function descriptions(found: Findings, report: string): string[] {
  return files(found, report)
    .filter(({ path }) => DESCRIPTION.test(nameOf(path)) && levelsBelow('.', path) <= 3 && !found.texts.has(path))
    .sort((a, b) => levelsBelow('.', a.path) - levelsBelow('.', b.path) || order(a.path, b.path))
    .map(({ path }) => path);
}

const WEIGHT: Readonly<Record<string, number>> = {
  src: 9,
  packages: 9,
  lib: 8,
  app: 8,
  apps: 8,
  cmd: 7,
  internal: 7,
  crates: 8,
  docs: 6,
  doc: 6,
  test: 5,
  tests: 5,
  examples: 5,
  scripts: 4,
};

/** Folders that were not listed yet, ordered by what their name promises, their depth, and how new they are. */
function foldersToEnter(found: Findings): string[] {
  const weigh = ({ path }: Entry) => (WEIGHT[nameOf(path)] ?? 3) - 2 * levelsBelow('.', path);
  return [...found.entries.values()]
    .filter(({ type, path }) => type === 'dir' && !found.seen.has(path) && !isPassedOver(path))
    .sort((a, b) => weigh(b) - weigh(a) || order(b.changed, a.changed) || order(a.path, b.path))
    .map(({ path }) => path);
}

function searchUnfinished(found: Findings, report: string): WantedCall[] {
  if (files(found, report).length === 0) return [];
  return UNFINISHED.map((args) => ({ tool: 'grep', args: { path: '.', limit: 200, ...args } }));
}

/** Reads what stands out: the largest, oldest and newest text files, and the one with the most unfinished work. */
function peek(found: Findings, report: string): WantedCall[] {
  const texts = files(found, report).filter(({ path, size }) => size > 0 && isText(path));
  const by = (rank: (a: Entry, b: Entry) => number) =>
    [...texts].sort((a, b) => rank(a, b) || order(a.path, b.path))[0];
  const largest = by((a, b) => b.size - a.size);
  const oldest = by((a, b) => order(a.changed, b.changed));
  const newest = by((a, b) => order(b.changed, a.changed));
  const picks = [largest, oldest, newest].map((entry) => entry?.path).concat(mostUnfinished(found, report));
  return [...new Set(picks)]
    .filter((path): path is string => path !== undefined && !found.texts.has(path))
    .map((path) => ({ tool: 'read_file', args: { path, limit: 20 } }));
}

function mostUnfinished(found: Findings, report: string): string | undefined {
  const counts = new Map<string, number>();
  for (const { pattern } of UNFINISHED) {
    for (const { path } of unfinishedLines(found, pattern, report).lines) counts.set(path, (counts.get(path) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || order(a[0], b[0]))[0]?.[0];
}

/** Whether a file is worth reading: neither binary nor generated by a package manager. */
function isText(path: string): boolean {
  return !/(^|\/)(package-lock\.json|pnpm-lock\.yaml|npm-shrinkwrap\.json)$|\.(png|jpe?g|gif|webp|ico|pdf|zip|gz|tgz|xz|bz2|7z|woff2?|ttf|otf|eot|mp[34]|mov|wasm|so|dylib|dll|exe|bin|db|sqlite|lock)$/i.test(
    path,
  );
}

function lastWord(found: Findings, report: string): string {
  const count = found.counted?.files ?? files(found, report).length;
  const unfinished = UNFINISHED.reduce(
    (sum, { pattern }) => sum + unfinishedLines(found, pattern, report).lines.length,
    0,
  );
  return `I ${found.counted === undefined ? 'looked at' : 'counted'} ${count} ${count === 1 ? 'file' : 'files'} and wrote the survey to ${report}. ${
    unfinished === 0
      ? 'Nothing calls itself unfinished.'
      : `${unfinished} ${unfinished === 1 ? 'line calls itself' : 'lines call themselves'} unfinished.`
  }`;
}

/** The verbs that answer questions of an operator: what waits, what it cost, what changed, who may do what. */
import type { Command } from 'commander';
import { count, listed, port, positive, several, time } from './process/arguments.js';
import { EXIT_HELP } from './process/exit.js';
import type { Io } from './process/io.js';
import { type RunVerb, verb } from './process/run-verb.js';

/** Adds the verbs of operators to the command, in the order of its help. */
export function addOperators(program: Command, run: RunVerb, io: Io): void {
  addTrouble(program, run, io);
  addWaiting(program, run, io);
  addCost(program, run, io);
  addTrace(program, run, io);
  addDiff(program, run, io);
  addRights(program, run, io);
  addReaders(program, run, io);
  addMemory(program, run, io);
  addTrust(program, run, io);
  addFork(program, run, io);
  addInspect(program, run, io);
}

function addTrouble(program: Command, run: RunVerb, io: Io): void {
  verb(
    program,
    'trouble',
    'list what needs attention: failed cells; a store, a clock or a service that fails; a process that died; what may have run twice',
  )
    .option('--all', 'what may have run twice in the whole journal, not only since the newest snapshot')
    .option('-f, --follow', 'print the list again whenever it changes, until Ctrl-C')
    .option('--limit <n>', 'the most of what may have run twice; 1,000 when absent', positive)
    .option('--after <cursor>', 'what stands behind the cursor of the list before')
    .option('--app <module>', 'the app that wrote the world')
    .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
    .action((world, options) =>
      run(options, async () => (await import('./verbs/trouble.js')).trouble(io, world, options)),
    );
}

function addWaiting(program: Command, run: RunVerb, io: Io): void {
  verb(program, 'waiting', 'list what waits for people, how to answer it, and what is at work')
    .option('--at <seq>', 'as it was after this frame', count)
    .option('-f, --follow', 'print the list again whenever it changes, until Ctrl-C')
    .option('--limit <n>', 'the most things to list; 1,000 when absent', positive)
    .option('--after <cursor>', 'what stands behind the cursor of the list before')
    .action((world, options) =>
      run(options, async () => (await import('./verbs/operators/waiting.js')).waiting(io, world, options)),
    );
}

function addCost(program: Command, run: RunVerb, io: Io): void {
  verb(program, 'cost', 'sum what model calls used: tokens, money, and the calls that state no price')
    .option('--by <keys>', 'agent, day, node, task, model; several with commas', listed, ['agent'])
    .option('--from <day>', 'from this day on, or from this time (2026-11-30, 2026-11-30T09:00Z)', time)
    .option('--to <day>', 'before this day or time', time)
    .option('--at <seq>', 'up to this frame', count)
    .option('--limit <n>', 'the most rows; 1,000 when absent', positive)
    .option('--after <cursor>', 'the rows behind the cursor of the list before')
    .action((world, options) =>
      run(options, async () => (await import('./verbs/operators/cost.js')).cost(io, world, options)),
    );
}

function addTrace(program: Command, run: RunVerb, io: Io): void {
  verb(program, 'trace', 'draw what agents did as a trace, print it as OTLP/JSON, or send it to a collector')
    .option('--otlp <url>', 'send the spans to the collector at this address, such as http://localhost:4318')
    .option('--header <name: value>', 'a header of each request to the collector; may be repeated', several)
    .option('--service <name>', 'the name of the service that the spans are of; reprise when absent')
    .option('--after <cursor>', 'only spans that ended behind this frame: the cursor that was printed before', count)
    .option('--open', 'with --json and --otlp: also what has not ended, up to the last frame')
    .option('--content', 'with --json and --otlp: also what was said to models and tools, and what they answered')
    .option('--limit <n>', 'the most traces to draw, the newest; 10 when absent', positive)
    .action((world, options) =>
      run(options, async () => (await import('./verbs/operators/trace.js')).trace(io, world, options)),
    );
}

function addDiff(program: Command, run: RunVerb, io: Io): void {
  verb(program, 'diff', 'print what changed between two frames, in all cells or in one')
    .argument('<a>', 'the earlier frame', count)
    .argument('<b>', 'the later frame', count)
    .argument('[cell]', 'the address of one cell (namespace/Reducer@1/key)')
    .option('--app <module>', 'the app that wrote the world')
    .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
    .option('--limit <n>', 'the most cells; 100 when absent', positive)
    .option('--after <cursor>', 'the cells behind the cursor of the list before')
    .action((world, a, b, cell, options) =>
      run(options, async () => (await import('./verbs/operators/diff.js')).diff(io, world, { a, b, cell }, options)),
    );
}

function addRights(program: Command, run: RunVerb, io: Io): void {
  verb(program, 'rights', 'print what a holder may do, what gave it, since which frame, and what narrows it')
    .argument('<holder>', 'operator, human:<id>, or cell:<address>')
    .option('--at <seq>', 'as it was after this frame', count)
    .option('--app <module>', 'the app that wrote the world')
    .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
    .action((world, holder, options) =>
      run(options, async () => (await import('./verbs/operators/rights.js')).rights(io, world, holder, options)),
    );
}

function addReaders(program: Command, run: RunVerb, io: Io): void {
  verb(program, 'readers', 'list who may read an item of a memory, and who may not, with the reason for each')
    .argument('<item>', 'a store (group:research), or an item of it (group:research#7)')
    .option('--at <seq>', 'as it was after this frame', count)
    .option('--app <module>', 'the app that wrote the world')
    .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
    .option('--limit <n>', 'the most rows; 1,000 when absent', positive)
    .option('--after <cursor>', 'the rows behind the cursor of the list before')
    .action((world, item, options) =>
      run(options, async () => (await import('./verbs/operators/readers.js')).readers(io, world, item, options)),
    );
}

function addMemory(program: Command, run: RunVerb, io: Io): void {
  verb(program, 'memory', 'list what agents keep: who wrote it, from what, the verdicts on it, and what became of it')
    .argument('[item]', 'a store (group:research), or an item of it (group:research#7); all stores when absent')
    .option('--at <seq>', 'as it was after this frame', count)
    .option('--app <module>', 'the app that wrote the world')
    .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
    .option('--limit <n>', 'the most items; 1,000 when absent', positive)
    .option('--after <cursor>', 'the items behind the cursor of the list before')
    .action((world, item, options) =>
      run(options, async () => (await import('./verbs/operators/memory.js')).memory(io, world, item, options)),
    );
}

function addTrust(program: Command, run: RunVerb, io: Io): void {
  verb(program, 'trust', 'list how far the members of a society trust each other, and each verdict that moved it')
    .option('--at <seq>', 'as it was after this frame', count)
    .option('--limit <n>', 'the most pairs; 1,000 when absent', positive)
    .option('--after <cursor>', 'the pairs behind the cursor of the list before')
    .action((world, options) =>
      run(options, async () => (await import('./verbs/operators/trust.js')).trust(io, world, options)),
    );
}

function addFork(program: Command, run: RunVerb, io: Io): void {
  verb(program, 'fork', 'make a dry fork: what would have happened with another answer; nothing outside is called')
    .argument('[at]', 'the last frame that the fork shares; the one that asked for the other answer when absent', count)
    .option('--into <file>', 'the place of the fork; a free one beside the world when absent')
    .option('--answer <effect=text>', 'another answer of a model, a tool or a person; may be repeated', several)
    .option('--deny <effect>', 'an effect that a person does not approve; may be repeated', several)
    .option('--feed', 'repeat the requests of the original; done by itself with another answer')
    .option('--list', 'list the forks of the world in its folder, and make none')
    .option('--app <module>', 'the app that wrote the world')
    .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
    .action((world, at, options) =>
      run(options, async () => (await import('./verbs/operators/fork.js')).fork(io, world, at, options)),
    );
}

function addInspect(program: Command, run: RunVerb, io: Io): void {
  program
    .command('inspect')
    .description('show the world on a page of this machine, until Ctrl-C; another process may write it')
    .argument('<world>', 'the world’s file')
    .option('--port <n>', 'the port on 127.0.0.1; any free one when absent', port)
    .option('--no-open', 'print the address, and open no browser')
    .option('--app <module>', 'the app that wrote the world')
    .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
    .addHelpText('after', EXIT_HELP)
    .action((world, options) =>
      run(options, async () => (await import('./verbs/inspect.js')).inspect(io, world, options)),
    );
}

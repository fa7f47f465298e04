/** Programs as nodes, played by a tool: the tools that they are offered, and which definition makes their arguments. */
import { type AnyAgent, defineAgent, defineOwnerTool, defineTool, type Tool, type ToolContext } from '@reprise/agent';
import type { SessionInfo } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { NodeBridge } from '../../src/index.js';
import { call, calls, complete, forest } from './forest.js';

/** An agent of another part of the app, whose own tool has the name of a node's tool. */
const ticket = defineOwnerTool({
  name: 'complete',
  description: 'Closes a ticket.',
  args: z.strictObject({ ticket: z.int() }),
});
const helpdesk = defineAgent({ name: 'helpdesk', model: 'main', instructions: 'Close tickets.', tools: [ticket] });

type Turn = (ctx: ToolContext, offered: readonly Tool[]) => Promise<string>;

/** A program whose turn is a function, and the bridge that offers it its tools. */
function programOf(turn: Turn) {
  let offered: (session: SessionInfo) => Promise<readonly Tool[]> = async () => [];
  const bridge: NodeBridge = {
    offer: (tools) => {
      offered = tools;
    },
    close: async () => undefined,
  };
  const run = defineTool({
    name: 'turn_coder',
    description: 'A turn of coder.',
    args: z.strictObject({ text: z.string() }),
    family: 'external',
    run: async (_args, ctx) => turn(ctx as ToolContext, await offered((ctx as ToolContext).session)),
  });
  const coder = defineAgent({ name: 'coder', model: 'main', instructions: '', tools: [run as Tool] });
  return { bridge, coder: coder as AnyAgent };
}

const answers = ({ n, run, step }: { readonly n: number; readonly run: number; readonly step: number }) => {
  if (n === 2) return step === 0 ? call('turn_coder', { text: 'go' }) : { text: 'The turn is over.' };
  if (n === 1 && run === 0)
    return step === 0 ? calls(['spawn', { goal: 'a', prompt: 'p', agent: 'coder', returns: 'list' }]) : { text: 'x' };
  return complete('all');
};

describe('a program as a node', () => {
  it('a program is offered the tools of its node: of its type of result, its unit, and its place in the tree', () => {
    let names: readonly string[] = [];
    let schema = '';
    const { bridge, coder } = programOf(async (ctx, tools) => {
      names = tools.map(({ name }) => name);
      schema = JSON.stringify(tools.find(({ name }) => name === 'complete')?.entry.schema);
      const tool = tools.find(({ name }) => name === 'complete');
      const answer = await ctx.owner('complete', { result: ['a'] }, tool === undefined ? {} : { tool });
      return JSON.stringify(answer);
    });
    return forest(
      answers,
      async ({ trees }) => {
        const tree = await trees.start('survey', { goal: 'top', limits: { depth: 2 } });
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        expect(names).toEqual(['read_tree', 'read_node', 'complete', 'ask', 'answer', 'stop']);
        expect(schema).toContain('"array"');
        expect((await tree.node(2))?.given?.value).toEqual(['a']);
      },
      { others: [coder], bridge },
    );
  });

  it('the offered definition makes the arguments of a call, although another tool of the world has its name', () => {
    const told: string[] = [];
    const { bridge, coder } = programOf(async (ctx, tools) => {
      const given = { result: ['a'] };
      const byName = await ctx.owner('complete', given).catch((error: Error) => error.message);
      told.push(String(byName));
      const tool = tools.find(({ name }) => name === 'complete');
      const wrong = ctx.owner('complete', { result: 'a' }, tool === undefined ? {} : { tool });
      told.push(await wrong.then(String, (error: Error) => error.message));
      return JSON.stringify(await ctx.owner('complete', given, tool === undefined ? {} : { tool }));
    });
    return forest(
      answers,
      async ({ trees }) => {
        const tree = await trees.start('survey', { goal: 'top' });
        expect(await tree.result()).toMatchObject({ status: 'complete' });
        expect(told[0]).toContain('ticket'); // by its name alone it is the other tool
        expect(told[1]).toMatch(/invalid arguments for the owner tool "complete".*expected array/s);
        expect((await tree.node(2))?.given?.value).toEqual(['a']);
      },
      { others: [coder], bridge, more: { agents: [helpdesk] } },
    );
  });

  it('a session of no tree is offered nothing', () => {
    let offered: readonly Tool[] | undefined;
    const bridge: NodeBridge = {
      offer: (tools) => void tools({ key: 'lone/1', labels: {} }).then((found) => (offered = found)),
      close: async () => undefined,
    };
    return forest(
      answers,
      async ({ world }) => {
        await world.pump();
        expect(offered).toEqual([]);
      },
      { bridge },
    );
  });
});

/** Names of reducers and effects that are written out, and names in place of ids. */
import { llmGenerate, SESSION_REDUCER } from '@reprise/agent';
import { humanAsk, toolCall, toolsetAdopt } from '@reprise/agent/contracts';
import type { JournalRecord } from '@reprise/contracts';
import { memory } from '@reprise/kernel';
import { JOB, STORE } from '@reprise/org/contracts';
import { ENTITY, GROUP, SWARM } from '@reprise/society/contracts';
import { PROJECT } from '@reprise/specialists/contracts';
import { TREE } from '@reprise/tree/contracts';
import { describe, expect, it } from 'vitest';
import { IdNames, shortKey } from '../src/names/index.js';
import { EFFECTS, REDUCERS } from '../src/names/reducers.js';

describe('names that answers look for', () => {
  it('the names of reducers and effects that are written out are those of their definitions', () => {
    expect(REDUCERS).toEqual({
      session: SESSION_REDUCER,
      job: JOB,
      tree: TREE,
      project: PROJECT,
      entity: ENTITY,
      group: GROUP,
      swarm: SWARM,
      store: STORE,
    });
    expect(EFFECTS).toEqual({
      model: llmGenerate.name,
      tool: toolCall.name,
      ask: humanAsk.name,
      adopt: toolsetAdopt.name,
    });
  });
});

describe('names in place of ids', () => {
  const ids = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string];

  it('given agents whose names could be taken for something else, when their ids stand in a text, then such names are quoted and unknown ids are cut', async () => {
    const place = memory();
    await (await place.open()).close();
    const names = new IdNames(await place.openReadonly());
    const make = (id: string, display_name: string): JournalRecord => {
      const event = { name: 'society/Make@1', value: { display_name } };
      return { kind: 'event', c: 0, to: [ENTITY, id], from: null, event };
    };
    names.take([make(ids[0], 'cleo'), make(ids[1], 'human:ann (operator)')]);
    expect(await names.words(`${ids[0]}/j1 asks ${ids[1]} of ${ids[2]}`, 0)).toBe(
      'cleo·aaaa/j1 asks "human:ann (operator)"·bbbb of cccccccc…',
    );
    expect(shortKey(`${ids[0]}/j1`)).toBe('aaaaaaaa…/j1');
  });
});

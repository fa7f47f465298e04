/** An app with an agent whose tool pays when a person approves, and writes each payment into a file. */
import { appendFileSync } from 'node:fs';
import * as z from 'zod';
import { defineAgent, defineTool } from '../../../agent/src/index.js';
import { scriptBy } from '../../../providers/src/index.js';

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  args: z.strictObject({ cents: z.int() }),
  approval: 'always',
  run: ({ cents }) => {
    appendFileSync(process.env.PAID ?? '', `${cents}\n`);
    return `Paid ${cents}.`;
  },
});

export const world = {
  agents: [defineAgent({ name: 'payer', model: 'main', instructions: 'Pay.', tools: [pay] })],
  models: {
    main: scriptBy(({ last }) => {
      const [, cents] = /^pay (\d+)$/.exec(last) ?? [];
      return cents === undefined
        ? { text: `Done: ${last}` }
        : { calls: [{ tool: 'pay', args: { cents: Number(cents) } }] };
    }),
  },
};

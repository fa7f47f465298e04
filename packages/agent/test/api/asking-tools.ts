/** Tools that wait for a person: for an approval, and for an answer. */
import * as z from 'zod';
import { defineTool } from '../../src/index.js';

const args = z.strictObject({});

/** A tool that runs only once a person has approved the call. */
export const pay = defineTool({ name: 'pay', description: 'Pays.', args, approval: 'always', run: () => 'Paid.' });

/** A tool that asks a person while it runs. */
export const inquire = defineTool({
  name: 'inquire',
  description: 'Asks.',
  args,
  run: async (_, context) => (await context.ask({ question: 'Which one?' })).how,
});

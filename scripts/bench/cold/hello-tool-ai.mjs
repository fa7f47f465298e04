/** The same as `hello-tool-reprise.mjs`, with the AI SDK. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { ToolLoopAgent, tool } from 'ai';
import * as z from 'zod';

const add = tool({
  description: 'Adds two numbers.',
  inputSchema: z.strictObject({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => a + b,
});
const model = createAnthropic({ apiKey: 'a-key' })('a-model');
const hello = new ToolLoopAgent({ model, instructions: 'Be brief.', tools: { add } });
console.log((await hello.generate({ prompt: 'What is 2 + 3?' })).text);

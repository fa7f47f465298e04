/** The same as `hello-reprise.mjs`, with the AI SDK. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { ToolLoopAgent } from 'ai';

const model = createAnthropic({ apiKey: 'a-key' })('a-model');
const hello = new ToolLoopAgent({ model, instructions: 'Be brief.' });
console.log((await hello.generate({ prompt: 'Hello' })).text);

/** A model as an HTTP server on this machine: it decides by what it is asked, and keeps each request as it came. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message of a request, in the format of chat completions. */
export interface AskedMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content?: string | readonly { readonly text?: string }[] | null;
}

/** What the model is asked. */
export interface Asked {
  /** The request as it came. */
  readonly raw: string;
  /** The texts of the system, one after another. */
  readonly system: string;
  /** The text of the last message that is not an answer of a tool, and none of the model's own. */
  readonly last: string;
  /** How often the model has answered since then. */
  readonly step: number;
  /** What tools have answered since then. */
  readonly answers: readonly string[];
  /** The names of the tools. */
  readonly tools: readonly string[];
  /** The most tokens that the answer may have; undefined when the request does not say. */
  readonly maxTokens: number | undefined;
}

/** What the model says: a text, or calls of tools; or it refuses the request. */
export type Said =
  | (({ readonly text: string } | { readonly calls: readonly Call[] }) & { readonly usage?: Usage })
  | 'refused';

/** What an answer is said to have cost, in tokens. */
export interface Usage {
  readonly in: number;
  readonly out: number;
}

/** The usage of an answer that says nothing else. */
const USUAL: Usage = { in: 100, out: 20 };

/** A call of a tool. */
export interface Call {
  readonly tool: string;
  readonly args: object;
}

/** A model that runs. */
export interface ModelServer {
  readonly url: string;
  /** The requests so far. */
  readonly asked: Asked[];
  stop(): void;
}

/** Starts a model. @param decide what it says; it may take its time */
export async function modelServer(decide: (asked: Asked) => Said | Promise<Said>): Promise<ModelServer> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const one = read(Buffer.concat(pieces).toString('utf8'));
    asked.push(one);
    const said = await decide(one);
    const body = said === 'refused' ? { error: { message: 'No.' } } : completion(said, asked.length);
    response
      .writeHead(said === 'refused' ? 400 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(body));
  });
  // A client that is killed resets its connection.
  server.on('clientError', (_, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function read(raw: string): Asked {
  const {
    messages,
    tools = [],
    max_tokens,
    max_completion_tokens,
  } = JSON.parse(raw) as {
    readonly max_tokens?: number;
    readonly max_completion_tokens?: number;
    readonly messages: readonly AskedMessage[];
    readonly tools?: readonly { readonly function: { readonly name: string } }[];
  };
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const since = messages.slice(at + 1);
  const of = (role: AskedMessage['role'], all = messages) => all.filter((one) => one.role === role).map(textOf);
  return {
    raw,
    system: of('system').join('\n'),
    last: textOf(messages[at]),
    step: of('assistant', since).length,
    answers: of('tool', since),
    tools: tools.map((tool) => tool.function.name),
    maxTokens: max_completion_tokens ?? max_tokens,
  };
}

function textOf(message: AskedMessage | undefined): string {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('\n');
}

function completion(said: Exclude<Said, 'refused'>, n: number): object {
  const calls = 'calls' in said ? said.calls : [];
  const { usage = USUAL } = said;
  const tool_calls = calls.map(({ tool, args }, i) => ({
    id: `call_${n}_${i}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(args) },
  }));
  const message =
    'text' in said ? { role: 'assistant', content: said.text } : { role: 'assistant', content: null, tool_calls };
  return {
    id: `chatcmpl-${n}`,
    object: 'chat.completion',
    created: 0,
    model: 'mock',
    choices: [{ index: 0, message, finish_reason: 'text' in said ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: usage.in, completion_tokens: usage.out, total_tokens: usage.in + usage.out },
  };
}

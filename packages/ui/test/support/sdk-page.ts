/** A chat page on the AI SDK's own chat, with the one line that a page of ours has: it hands decisions on. */
import {
  AbstractChat,
  type ChatState,
  type ChatStatus,
  type ChatTransport,
  type UIMessage,
  type UIMessageChunk,
} from 'ai';
import { approvalResponse, type UiChunk } from '../../src/index.js';

class State implements ChatState<UIMessage> {
  status: ChatStatus = 'ready';
  error: Error | undefined = undefined;
  messages: UIMessage[] = [];

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
  };
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  snapshot = <T>(thing: T): T => structuredClone(thing);
}

class Page extends AbstractChat<UIMessage> {
  constructor(stream: () => ReadableStream<UiChunk>, handsOn: boolean) {
    const open = async () => stream() as ReadableStream<UIMessageChunk>;
    const transport: ChatTransport<UIMessage> = { sendMessages: open, reconnectToStream: open };
    super({
      transport,
      state: new State(),
      onData: (part) => {
        const response = handsOn ? approvalResponse(part) : undefined;
        if (response !== undefined) void this.addToolApprovalResponse(response);
      },
    });
  }
}

/** The message that a page has when the stream ends. */
export async function messageOf(
  stream: ReadableStream<UiChunk>,
  options: { readonly handsOn?: boolean } = {},
): Promise<UIMessage | undefined> {
  const page = new Page(() => stream, options.handsOn ?? true);
  await page.resumeStream();
  return page.messages.at(-1);
}

/** Chunks as a stream. */
export function streamOf(chunks: readonly UiChunk[]): ReadableStream<UiChunk> {
  return new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

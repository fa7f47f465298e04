/** A world of agents: the kernel's world with the agent app, its tools and its models bound. */
import type { LlmGenerateParams, LlmGenerateReceipt, Ref } from '@reprise/contracts';
import { RepriseError } from '@reprise/contracts';
import {
  type Adapter,
  type ContentReader,
  type OpenWorldOptions,
  openWorld,
  readLog,
  type VerifyReport,
  type World,
} from '@reprise/kernel';
import type { Agent } from './agent.js';
import { agentApp } from './app.js';
import type { TranscriptItem } from './contracts/transcript.js';
import { Session } from './session.js';
import type { Tool } from './tool.js';
import { type ToolOutputPolicies, toolCallAdapter } from './tool-adapter.js';

/** How a world of agents is opened. */
export interface OpenAgentWorldOptions extends Omit<OpenWorldOptions, 'app' | 'adapters'> {
  /** The agents whose tools have handlers in this process. */
  readonly agents: readonly Agent[];
  /** What performs `llm.generate@2`. */
  readonly llm: Adapter<LlmGenerateParams, LlmGenerateReceipt>;
  /** How tool outputs are bounded for the model. */
  readonly outputs?: ToolOutputPolicies;
}

/** A world of agents. Made by {@link openAgentWorld}. */
export class AgentWorld implements AsyncDisposable {
  constructor(
    /** The kernel's world: frames, state, time travel. */
    readonly kernel: World,
    private readonly agents: readonly Agent[],
  ) {}

  /**
   * A session under a key. Nothing is written before its first input.
   *
   * @param key the session's key, without personal data
   * @throws RepriseError `unknown_agent` when the agent is not one of this world's
   */
  session(key: string, agent: Agent): Session {
    if (!this.agents.includes(agent)) {
      throw new RepriseError('unknown_agent', `this world was opened without the agent ${agent.name}`, {
        expected: this.agents.map(({ name }) => name).join(', '),
        hint: 'List it under `agents` when opening the world.',
      });
    }
    return new Session(this.kernel, key, agent);
  }

  /** Performs the whole journal again and compares it in bytes. See `World.verify`. */
  verify(expect?: string): Promise<VerifyReport> {
    return this.kernel.verify(expect);
  }

  /** Closes the world. See `World.close`. */
  close(): Promise<void> {
    return this.kernel.close();
  }

  /** `await using world = …` closes it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.kernel.close();
  }
}

/**
 * Opens a world of agents.
 *
 * @throws RepriseError `duplicate_definition` when two agents list different tools of one name; what the kernel's
 *   `openWorld` throws
 */
export async function openAgentWorld(options: OpenAgentWorldOptions): Promise<AgentWorld> {
  const { agents, llm, outputs, ...rest } = options;
  const tools = toolCallAdapter(toolsOf(agents), outputs === undefined ? {} : { policies: outputs });
  return new AgentWorld(await openWorld({ ...rest, app: agentApp, adapters: [llm, tools] }), agents);
}

/** Reads a transcript from a log head, oldest item first. */
export async function* readTranscript(content: ContentReader, head: Ref): AsyncGenerator<TranscriptItem> {
  // The session reducer's log schema checked each item before it was appended.
  for await (const item of readLog(content, head)) yield item as unknown as TranscriptItem;
}

/** Every tool of the agents once; agents may share a tool. */
function toolsOf(agents: readonly Agent[]): Tool[] {
  return [...new Set<Tool>(agents.flatMap((agent) => agent.tools as readonly Tool[]))];
}

/**
 * The judge of an app: runs the recorded code of this build on a model's answer.
 *
 * Invariants
 * J1  Nothing in author code makes it throw: a failure is decided on the safe side. A rule that fails or returns
 *     nonsense requires an approval, a `resource` that fails makes a call run alone. The failure is reported, since the
 *     one who can correct the code sees neither the approval nor the prompt.
 * J2  Whatever a model wrote, the judgment fits the receipt's schema: names are cut, ids made unique, arguments without
 *     a canonical form stored as text.
 * J3  `args_ref` links the arguments as the model gave them; the schema's conversion is repeated wherever they are
 *     used.
 * J4  A call has a fingerprint and a meaning only when the code that it names was run: see `tool-adapter/T4`.
 * J5  A return value is checked by the code of this build where that code stands for the recorded JSON Schema, which
 *     the model was given; otherwise by the recorded JSON Schema.
 */
import {
  ANSWER_CALLS_MAX,
  CONTEXT_LANES,
  type ContextText,
  type LlmGenerateReceipt,
  type LlmToolCall,
  type Ref,
  sessionOp,
  startOfText,
  type Value,
  wellFormed,
} from '@reprise/contracts';
import { NO_LARGE_NUMBERS } from '@reprise/contracts/json';
import type { ContentStore } from '@reprise/kernel';
import { encode, equalBytes, toHex } from '@reprise/kernel/codec';
import { hostSha256, putValue } from '@reprise/kernel/store';
import type { AgentDef, ToolEntry } from '../contracts/agent-def.js';
import { checkRead, largeNumberProblems } from '../tools/schema/check-read.js';
import { inTime, type Stopped, stoppingWith } from '../tools/schema/in-time.js';
import { recordedSchema } from '../tools/schema/recorded-schema.js';
import { type Report, reportFailed, reportSchema } from '../tools/schema/report-failed.js';
import { messageOf, type Schema, shortened } from '../tools/schema/schema.js';
import { argsInvalidText, notArgsText, unknownToolText } from '../tools/schema/texts.js';
import { approvalOf } from '../tools/tool/approval.js';
import { childTools } from '../tools/tool/children.js';
import type { Tool } from '../tools/tool/tool.js';
import { bytesOfVersion, recordedVersion } from '../tools/tool/version.js';
import { type Build, boundTool, type ContextSource, type RecordedAgent } from '../tools/toolset/build.js';
import { Definitions } from './definitions.js';
import { jsonIn } from './json-answer.js';
import type { AskedCall, Judge, JudgeContext } from './port.js';
import { recordedOwnerTool } from './recorded-owner-tool.js';
import { uniqueIds } from './unique-ids.js';

/** The most characters of a tool's name, a resource and a source's name in a receipt. */
const NAME_MAX = 128;
const RESOURCE_MAX = 256;
const SOURCE_NAME_MAX = 64;

/** How many context texts one receipt holds. */
const CONTEXT_MAX = 16;

/** The facts of a judgment until it is stopped. */
interface Asking extends Omit<JudgeContext, 'signal'> {
  readonly stopped: Stopped;
}

/** Makes the judge that runs the code of a build. */
export function recordedJudge(build: Build): Judge {
  const definitions = new Definitions();
  const asking = <T>({ signal, ...context }: JudgeContext, body: (asking: Asking) => Promise<T>): Promise<T> =>
    stoppingWith(signal, (stopped) => body({ ...context, stopped }));
  return {
    calls: (asked, context) =>
      asking(context, (one) => judgeCalls(asked.slice(0, ANSWER_CALLS_MAX), one, build, definitions)),
    returns: async (text, context) => {
      const def = await definitions.agent(context.content, context.params.def_ref);
      if (def === undefined || def.returns === null) return undefined;
      const schema = returnsOf(build.agent(def.config.agent), def.returns);
      return asking(context, (one) => judgeReturn(text, schema, one));
    },
    context: async (context) => {
      const def = await definitions.agent(context.content, context.params.def_ref);
      const sources = def === undefined ? [] : (build.agent(def.config.agent)?.context ?? []);
      const ordered = CONTEXT_LANES.flatMap((lane) => sources.filter((source) => source.lane === lane));
      const listed = ordered.slice(0, CONTEXT_MAX);
      return asking(context, (one) => Promise.all(listed.map((source) => askSource(source, one))));
    },
  };
}

async function judgeCalls(
  asked: readonly AskedCall[],
  context: Asking,
  build: Build,
  definitions: Definitions,
): Promise<readonly LlmToolCall[]> {
  if (asked.length === 0) return [];
  const { tools_ref, toolset_refs = [], def_ref } = context.params;
  const def = await definitions.agent(context.content, def_ref);
  const lists = await Promise.all([tools_ref, ...toolset_refs].map((ref) => definitions.tools(context.content, ref)));
  const entries = lists.flat();
  const ids = uniqueIds(asked.map(({ callId }) => callId));
  return Promise.all(
    asked.map(async (call, at) => {
      const tool = named(call.tool, NAME_MAX, 'unnamed');
      const written = await keepArgs(call.args, context.content);
      const terms = await judgeCall({ ...call, tool, written }, { entries, def }, context, build);
      const signature = toHex(hostSha256()(encode([tool, written.value]))).slice(0, 16);
      return { call_id: ids[at] ?? '', tool, args_ref: written.ref, signature, ...terms };
    }),
  );
}

/** Arguments as they are stored: as the model gave them, or as text when they have no canonical form (J2). */
interface Written {
  readonly ref: Ref;
  readonly value: Value;
  readonly problem?: string;
}

async function keepArgs(args: Value, content: ContentStore): Promise<Written> {
  try {
    return { ref: await content.put(encode(args)).then((ref) => ref.asValue()), value: args };
  } catch (error) {
    const value = wellFormed(JSON.stringify(args) ?? '');
    return { ref: await putValue(content, value), value, problem: `- ${messageOf(error)}` };
  }
}

type Named = AskedCall & { readonly written: Written };
type Terms = Omit<LlmToolCall, 'call_id' | 'tool' | 'args_ref' | 'signature'>;

/** The tools and toolsets that a model was shown, and the definition they come from. */
interface Listed {
  readonly entries: readonly ToolEntry[];
  readonly def: AgentDef | undefined;
}

async function judgeCall(call: Named, { entries, def }: Listed, asking: Asking, build: Build): Promise<Terms> {
  const { tool: name, written } = call;
  const { content, stopped } = asking;
  const unfit = issueOf(call);
  if (unfit !== undefined) return issue(unfit.issue, unfit.text, content);
  const entry = entries.find((listed) => listed.name === name);
  if (entry === undefined) {
    const known = entries.map((listed) => listed.name);
    return issue(
      build.tools(name).length === 0 ? 'tool_not_found' : 'tool_disabled',
      unknownToolText(name, known),
      content,
    );
  }
  const tool = boundTool(build, entry, def?.config.agent) ?? leadingTool(entry, def) ?? recordedOwnerTool(entry, build);
  const listed = entry.origin === undefined ? {} : { entry_ref: await putValue(content, entry) };
  const { count, large } = call.largeNumbers ?? NO_LARGE_NUMBERS;
  if (tool === undefined) {
    if (count > 0) return issue('args_invalid', argsInvalidText(name, largeNumberProblems(large)), content);
    return { ...termsOf(entry), ...listed }; // J4
  }
  const args = await inTime(() => checkRead(tool.args, { data: written.value, count, large }), stopped);
  reportSchema(`the argument schema of ${name}`, args, asking.report);
  if (!args.ok) return issue('args_invalid', argsInvalidText(name, `- the check failed: ${args.why}`), content);
  if (!args.value.ok) return issue('args_invalid', argsInvalidText(name, args.value.problems), content);
  return { ...(await judgeFitting(tool, args.value.value, asking)), ...listed };
}

/** The definition decides about a tool that controls children, whether or not the agent has code in this build. */
function leadingTool({ name, kind }: ToolEntry, def: AgentDef | undefined): Tool | undefined {
  if (def === undefined || def.config.spawns.length === 0) return undefined;
  return childTools(def.config.spawns).find(({ entry }) => entry.name === name && entry.kind === kind);
}

/** Refuses a call that is malformed for any tool. */
function issueOf({ tool, issue: given, problem = '- they cannot be read', written }: Named) {
  if (given === 'args_invalid') return { issue: given, text: argsInvalidText(tool, problem) };
  if (given !== undefined) return { issue: given, text: notArgsText(tool, given) };
  if (written.problem !== undefined) {
    return { issue: 'args_invalid' as const, text: argsInvalidText(tool, written.problem) };
  }
  const isMap = toolArgs(written.value);
  return isMap ? undefined : { issue: 'args_not_object' as const, text: notArgsText(tool, 'args_not_object') };
}

function toolArgs(value: Value): boolean {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** A call whose arguments fit: its session operation, or the terms of its execution. */
async function judgeFitting(tool: Tool, args: unknown, asking: Asking): Promise<Terms> {
  const terms: Terms = { ...termsOf(tool.entry), fingerprint: tool.entry.fingerprint };
  const { operation } = tool;
  if (operation !== undefined) {
    const op = await inTime(() => operation(args as never, asking.content, asking.params.session), asking.stopped);
    if (!op.ok) reportFailed(`the operation of ${tool.entry.name}`, op, asking.report);
    const fits = sessionOp.safeParse(op.ok ? op.value : undefined);
    if (fits.success) return { ...terms, session: fits.data };
    return issue('args_invalid', argsInvalidText(tool.entry.name, '- nothing can be done with them'), asking.content);
  }
  const { content, stopped, params, report } = asking;
  const session = params.session;
  const approval = await approvalOf(tool, args, { content, stopped, session, ...(report && { report }) });
  return {
    ...terms,
    ...(await judgedBy(tool, content)),
    ...(approval === undefined ? {} : { approval }),
    ...resourceOf(tool, args, report),
  };
}

/** The version of a tool that a call is judged by: a call that a session executes itself is executed at once. */
async function judgedBy(tool: Tool, content: ContentStore): Promise<Pick<Terms, 'meaning' | 'judged_ref'>> {
  const { version, meaning } = recordedVersion(tool);
  return { meaning, judged_ref: (await content.put(bytesOfVersion(version))).asValue() };
}

/** The terms of a call, as far as they differ from the defaults. */
function termsOf(entry: ToolEntry): Terms {
  return {
    guarantee: entry.guarantee,
    ...(entry.timeout_ms === undefined ? {} : { timeout_ms: entry.timeout_ms }),
    ...(entry.parallel ? {} : { parallel: false }),
    ...(entry.polling ? { polling: true } : {}),
    ...(entry.on_unknown === 'tell_model' ? {} : { on_unknown: entry.on_unknown }),
  };
}

function resourceOf({ resource, entry }: Tool, args: unknown, report: Report): Terms {
  if (resource === undefined) return {};
  try {
    const name: unknown = resource(args as never);
    if (typeof name === 'string' && name !== '') return { resource: named(name, RESOURCE_MAX, '') };
  } catch (error) {
    // The call runs alone (J1).
    reportFailed(`the resource of ${entry.name}`, { ok: false, why: messageOf(error), error }, report);
  }
  return { parallel: false };
}

async function issue(code: NonNullable<LlmToolCall['issue']>, text: string, content: ContentStore): Promise<Terms> {
  return { issue: code, issue_ref: await putText(content, shortened(text)) };
}

/** The code that checks a return value: of the agent as it is now, unless it asks for something else than recorded (J5). */
function returnsOf(agent: RecordedAgent | undefined, recorded: Value): Schema {
  const { returns, returnsJsonSchema: stated = recorded } = agent ?? {};
  return returns !== undefined && equalBytes(encode(stated), encode(recorded)) ? returns : recordedSchema(recorded);
}

async function judgeReturn(
  text: string,
  schema: Schema,
  { content, stopped, report }: Asking,
): Promise<LlmGenerateReceipt['returns']> {
  const unfit = async (problems: string) => ({
    issue_ref: await putText(
      content,
      shortened(
        `The answer is not what is to be returned.\n${problems}\nAnswer again with one JSON value that fits, and nothing else.`,
      ),
    ),
  });
  const json = jsonIn(text);
  if (json === undefined) return unfit('- it is not JSON');
  const fits = await inTime(() => checkRead(schema, { ...json, data: json.value }), stopped);
  reportSchema('the schema of the return value', fits, report);
  if (!fits.ok) return unfit(`- the check failed: ${fits.why}`);
  if (!fits.value.ok) return unfit(fits.value.problems);
  const { value } = fits.value;
  try {
    return { value_ref: await content.put(encode(value as Value)).then((ref) => ref.asValue()) };
  } catch (error) {
    return unfit(`- ${messageOf(error)}`);
  }
}

async function askSource(source: ContextSource, { params, content, stopped, report }: Asking): Promise<ContextText> {
  const name = named(source.name, SOURCE_NAME_MAX, 'unnamed');
  const said = await inTime(async () => source.load(params.session), stopped);
  if (!said.ok) reportFailed(`the context source ${name}`, said, report);
  const text = said.ok ? wellFormed(String(said.value)) : shortened(`[the context source ${name} failed: ${said.why}]`);
  return { lane: source.lane, name, text_ref: await putText(content, text) };
}

function putText(content: ContentStore, text: string): Promise<Ref> {
  return content.put(new TextEncoder().encode(text));
}

/** A name as a receipt holds it: well-formed, not empty, not too long. */
function named(given: string, lengthMax: number, otherwise: string): string {
  return wellFormed(startOfText(given, lengthMax)) || otherwise;
}

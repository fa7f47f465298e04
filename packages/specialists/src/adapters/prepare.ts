/**
 * Prepares the jobs of a team: reads the skill file, makes the specialist of it, and lays out its input. Replay needs
 * none of it: the definition is content, and the digest says which bytes were read (SPEC-16).
 */
import { type AnyAgent, defineAgent, type PartHost, putText, readText, type Tool } from '@reprise/agent';
import { type Capability, type InputPart, type Marked, paragraphs, type Ref } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import {
  type ComposedItem,
  composeText,
  type JobRequest,
  NotPrepared,
  type PrepareHost,
  type Preparer,
  type WorkPrepared,
} from '@reprise/org';
import { limitOf, type Share } from '@reprise/org/contracts';
import * as z from 'zod';
import { specialistInstructions, taskText } from '../prompts/specialist.js';
import { specialistKind } from '../pure/index.js';
import { isSkill, type Skill, type SkillLibrary, type TeamFacts as SkillTeam } from '../skills/index.js';

/** What the project states about a job. */
const details = z.object({
  project: z.string(),
  skill: z.string(),
  title: z.string(),
  task_ref: z.custom<Ref>().optional(),
  context_ref: z.custom<Ref>(),
  note_ref: z.custom<Ref>().optional(),
  budget: z.object({ unit: z.enum(['tokens', 'micro_money']), amount: z.int() }).optional(),
});

interface SpecialistsOfTeam {
  readonly name: string;
  readonly library: SkillLibrary;
  /** What it knows of its skills where agents have these rights. */
  facts(host: Pick<PartHost, 'models'>, rights: Capability): SkillTeam;
  readonly defaultModel: string;
  /** The tool that a skill means by a name; undefined when it may have none of that name. */
  tool(name: string, isPlanner: boolean): Tool | undefined;
}

/** The preparer of a team's jobs. */
export function specialistPreparer(team: SpecialistsOfTeam): Preparer {
  return {
    kind: specialistKind(team.name),
    async prepare(request: JobRequest, host: PrepareHost): Promise<WorkPrepared> {
      const asked = details.parse(request.details);
      const read = await team.library.read(asked.skill, team.facts(host, await host.rights()));
      if (read === undefined) throw new NotPrepared('skill_not_found', `there is no skill "${asked.skill}"`);
      const { found, row } = read;
      if (!isSkill(found.parsed) || row.refusal !== null) throw new NotPrepared(row.refusal ?? 'skill_invalid');
      const model = request.model ?? found.parsed.model ?? team.defaultModel;
      if (!host.models.includes(model)) throw new NotPrepared('unknown_model', `there is no model "${model}"`);
      const agent = specialist(found.parsed, model, toolsOf(team, found.parsed, row.planner));
      const { adopted: whole, agents } = await host.adopt(agent);
      const adopted = within(whole, asked.budget);
      const message_parts = await partsOf(host.content, asked, request);
      return { adopted, agents: [...agents], message_parts, digest: found.digest, resolved_model: model };
    },
  };
}

/** Another part's agents have rights of their own: the gate judges each call of a tool. */
const UNBOUNDED: Capability = { may: {} };

/** Begins the name under which other parts of the world ask for the specialist of a skill. */
const SKILL_NAME = 'skill:';

/**
 * The specialist that a skill makes, for parts other than the team's own: with the tools of the team's catalog.
 *
 * @param name `skill:` and the name of the skill
 * @returns undefined for a skill that the team does not have, or that cannot be spawned
 */
export async function agentOfSkill(
  team: SpecialistsOfTeam,
  name: string,
  host: Pick<PartHost, 'models'>,
): Promise<AnyAgent | undefined> {
  if (!name.startsWith(SKILL_NAME)) return undefined;
  const read = await team.library.read(name.slice(SKILL_NAME.length), team.facts(host, UNBOUNDED));
  if (read === undefined || !isSkill(read.found.parsed) || read.row.refusal !== null) return undefined;
  const { parsed } = read.found;
  const model = parsed.model ?? team.defaultModel;
  return host.models.includes(model) ? specialist(parsed, model, toolsOf(team, parsed, false)) : undefined;
}

/** A definition with the limit of the job's share of the budget. */
function within(adopted: WorkPrepared['adopted'], budget: Share | undefined): WorkPrepared['adopted'] {
  if (budget === undefined) return adopted;
  const limits = { ...adopted.config.limits, [limitOf(budget)]: budget.amount };
  return { ...adopted, config: { ...adopted.config, limits } };
}

function specialist(skill: Skill, model: string, tools: readonly Tool[]): ReturnType<typeof defineAgent> {
  return defineAgent({ name: skill.name, model, instructions: specialistInstructions(skill), tools: [...tools] });
}

/** Exactly the tools that the skill lists (SPEC-1). */
function toolsOf(team: SpecialistsOfTeam, { tools, name: skill }: Skill, isPlanner: boolean): readonly Tool[] {
  return (tools ?? []).map((name) => {
    const tool = team.tool(name, isPlanner);
    if (tool === undefined) throw new NotPrepared('tool_unavailable', `skill "${skill}" lists the tool "${name}"`);
    return tool;
  });
}

/** Task, context and summaries as a text, then the results that are passed on whole, each by its link (SPEC-9). */
async function partsOf(
  content: ContentStore,
  { title, task_ref, context_ref, note_ref }: z.infer<typeof details>,
  { inputs }: JobRequest,
): Promise<InputPart[]> {
  const task = task_ref === undefined ? null : await readText(content, task_ref);
  const note = note_ref === undefined ? null : await readText(content, note_ref);
  const context = await readText(content, context_ref);
  const told = [taskText({ title, task, note, context }), ...(await summariesOf(content, inputs))];
  const whole = inputs.filter(({ view }) => view !== 'summary');
  return [
    { kind: 'text', text_ref: await putText(content, paragraphs(told)) },
    ...whole.map(
      ({ from, output_ref, view }): InputPart => ({ kind: 'result', child: `agent_result:${from}`, output_ref, view }),
    ),
  ];
}

/** The beginnings of results, as data between marks. */
async function summariesOf(content: ContentStore, inputs: JobRequest['inputs']): Promise<Marked[]> {
  const items = inputs
    .filter(({ view }) => view === 'summary')
    .map(({ from, output_ref }): ComposedItem => {
      return { label: `agent_result:${from}`, ref: output_ref, kind: 'llm_output', view: 'summary' };
    });
  if (items.length === 0) return [];
  return [await composeText(content, [{ title: 'What was done before', items }], SUMMARIES_BYTES_MAX)];
}

/** The bytes of all summaries: those of as many results as a job may be given. */
const SUMMARIES_BYTES_MAX = 16_000;

/** The skills of `reprise team run` in a folder without skills of its own: enough to look at a folder and report. */
import { type SkillSource, skill } from '@reprise/specialists';

/** The tools that read a folder. */
const READS = ['list_files', 'read_file', 'grep', 'glob'] as const;

/** Skills for a folder that has none of its own. */
export function builtInSkills(): readonly SkillSource[] {
  return [
    skill({
      name: 'survey',
      description: 'Looks at the whole folder, and says what is in it. Use it first.',
      triggers: ['look at', 'what is here', 'what does this'],
      tools: READS,
      body: 'List the folder, read what describes it, search for the words of the task. Name the files that you have seen, and no others.',
    }),
    skill({
      name: 'reader',
      description: 'Looks closely at one part of the folder. Use it for a task that names a part.',
      tools: READS,
      body: 'Look at the part that the task names. Name the files that your findings come from.',
    }),
    skill({
      name: 'planner',
      description:
        'Turns a survey into tasks, each with a brief of its own. Hand it the survey, and the names of the skills.',
      triggers: ['plan'],
      tools: ['plan_write'],
      body: 'Write one task for each part that has to be looked at, and one that makes a report of all of them. Each brief must hold the question, the part, and what the survey says about it.',
    }),
    skill({
      name: 'writer',
      description: 'Makes one report of the results of other tasks. It reads nothing but them.',
      tools: [],
      body: 'Make one report of the results that were handed to you. Begin with the answer. Name the files that the results name.',
    }),
  ];
}

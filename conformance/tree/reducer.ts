/** The reducer of trees, as an app receives it. */
import { appOf, defineAgent } from '@reprise/agent';
import type { ReducerDefinition } from '@reprise/kernel';
import { trees } from '@reprise/tree';

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });

/** `tree/Tree@1`. */
export const treeReducer = appOf([trees({ agents: [worker] })]).reducers.get('tree/Tree@1') as ReducerDefinition;

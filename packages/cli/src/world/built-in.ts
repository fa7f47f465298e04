/** The definitions of the packages of this repository: what replays a world when the user names no app. */
import type { App } from '@reprise/kernel';

/** The packages whose definitions are in the built-in app. */
const PACKAGES = [
  '@reprise/agent',
  '@reprise/org',
  '@reprise/server',
  '@reprise/society',
  '@reprise/specialists',
  '@reprise/tree',
  '@reprise/webhooks',
] as const;

/** Their names in words, for texts of the command. */
export const BUILT_IN_NAMES = `${PACKAGES.slice(0, -1).join(', ')} and ${PACKAGES.at(-1)}`;

/** The built-in app, and the name of it in reports: the packages that it is of. */
interface BuiltIn {
  readonly app: App;
  readonly name: string;
}

/** The app of agent sessions alone. Most worlds need no more, and it loads fast. */
export async function agentsOnly(): Promise<BuiltIn> {
  const { agentApp } = await import('@reprise/agent');
  return { app: agentApp, name: PACKAGES[0] };
}

/** The app with the definitions of every package. */
export async function allPackages(): Promise<BuiltIn> {
  const [{ appOf }, org, server, societies, specialists, tree, webhooks] = await Promise.all([
    import('@reprise/agent'),
    import('@reprise/org/contracts'),
    import('@reprise/server/tokens'),
    import('@reprise/society'),
    import('@reprise/specialists/contracts'),
    import('@reprise/tree/contracts'),
    import('@reprise/webhooks/contracts'),
  ]);
  const flowReducers = [org.promise, org.queue, org.topic];
  const flow = { name: 'flow', reducers: flowReducers, handle: () => undefined };
  const { treeReducer, launchPlan, checkPlan, questionPlan, peoplePlan, supplyPlan } = tree;
  const plans = [launchPlan, checkPlan, questionPlan, peoplePlan, supplyPlan];
  const trees = { name: 'trees', reducers: [treeReducer], plans, handle: () => undefined };
  const jobs = { name: 'work', reducers: [org.jobReducer], plans: [org.preparePlan], handle: () => undefined };
  const stores = { name: 'memory', reducers: [org.storeReducer], plans: [org.operatePlan], handle: () => undefined };
  const { projectReducer, readPlan, wakePlan, listPlan, showPlan } = specialists;
  const projectPlans = [readPlan, wakePlan, listPlan, showPlan];
  const teams = { name: 'teams', reducers: [projectReducer], plans: projectPlans, handle: () => undefined };
  const { reducers = [], plans: societyPlans = [] } = societies.society();
  const society = { name: 'society', reducers, plans: societyPlans, handle: () => undefined };
  const { outboxReducer, postPlan } = webhooks;
  const outboxes = { name: 'webhooks', reducers: [outboxReducer], plans: [postPlan], handle: () => undefined };
  const all = [flow, trees, jobs, stores, teams, society, server.revocations, outboxes];
  return { app: appOf(all), name: BUILT_IN_NAMES };
}

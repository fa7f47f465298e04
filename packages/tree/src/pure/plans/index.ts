export { checkPlan } from './check.js';
export { launchPlan } from './launch.js';
export { peoplePlan } from './people.js';
export { questionPlan } from './question.js';
export { supplyPlan } from './supply.js';

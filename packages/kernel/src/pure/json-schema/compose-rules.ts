/** Keywords that put schemas together. */
import { type CheckRun, type Evaluated, nothing, type Rule, type SchemaNode } from './check-run.js';

/** The keyword `allOf`; a reference is an `allOf` of one. */
export function allRule(nodes: readonly SchemaNode[]): Rule {
  return (value, run, seen) => {
    let fits = true;
    for (const node of nodes) fits = run.visit(node, value, seen) && fits;
    return fits;
  };
}

/** The keywords `anyOf` and, with `exactlyOne`, `oneOf`. */
export function choiceRule(nodes: readonly SchemaNode[], exactlyOne: boolean): Rule {
  return (value, run, seen) => {
    const fitting = nodes.filter((node) => run.quietly(() => run.visit(node, value, seen))).length;
    if (exactlyOne ? fitting === 1 : fitting > 0) return true;
    const [only] = nodes;
    if (nodes.length === 1 && only !== undefined && fitting === 0) return run.visit(only, value, nothing());
    return run.problem(fitting === 0 ? 'fits none of the forms that it may have' : 'fits more than one form');
  };
}

export function notRule(node: SchemaNode): Rule {
  return (value, run) =>
    !run.quietly(() => run.visit(node, value, nothing())) || run.problem('has a form that it must not have');
}

export function conditionRule(test: SchemaNode, then: SchemaNode | undefined, otherwise: SchemaNode | undefined): Rule {
  return (value, run, seen) => {
    const next = run.quietly(() => run.visit(test, value, seen)) ? then : otherwise;
    return next === undefined || run.visit(next, value, seen);
  };
}

/** A reference, which may lead elsewhere in each check. */
export function referenceRule(target: (run: CheckRun) => SchemaNode): Rule {
  return (value, run, seen: Evaluated) => run.visit(target(run), value, seen);
}

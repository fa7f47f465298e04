/**
 * Checks servers' schemas in place of the MCP package's validator, which runs their regular expressions without a
 * bound.
 */
import type { ClientOptions } from '@modelcontextprotocol/client';
import { jsonSchema } from '@reprise/agent';

type Validator = NonNullable<ClientOptions['jsonSchemaValidator']>;

/** Validates in bounded, linear time; see `jsonSchema`. */
export const linearValidator: Validator = {
  getValidator: <T>(schema: object) => {
    const { validate } = jsonSchema(schema)['~standard'];
    return (input: unknown) => {
      const result = validate(input);
      if (result instanceof Promise) throw new TypeError('a JSON Schema is checked at once');
      if (result.issues === undefined) return { valid: true, data: input as T, errorMessage: undefined };
      const errorMessage = result.issues.map(({ message }) => message).join('; ');
      return { valid: false, data: undefined, errorMessage };
    };
  },
};

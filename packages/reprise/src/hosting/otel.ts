/** Traces of a world as a function of its journal, by the GenAI conventions of OpenTelemetry. */
export * from '@reprise/otel';

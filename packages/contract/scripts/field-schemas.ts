/** The JSON type of values of a TypeScript type. */
type TypeName<Value> = Value extends string
  ? 'string'
  : Value extends number
    ? 'number' | 'integer'
    : Value extends boolean
      ? 'boolean'
      : Value extends readonly unknown[]
        ? 'array'
        : 'object';

/** The JSON Schema of a field whose values have a TypeScript type. */
export interface FieldSchema<Value> {
  readonly type: null extends Value
    ? readonly [TypeName<NonNullable<Value>>, 'null']
    : TypeName<NonNullable<Value>>;
  readonly description: string;
  readonly format?: 'date-time' | 'uri';
  readonly minimum?: number;
  readonly items?: object;
  readonly properties?: object;
  readonly required?: readonly string[];
  /** `true` also where it is the default: generators of code take an object without fields for `{}`. */
  readonly additionalProperties?: true;
}

/**
 * The schemas of all fields of a TypeScript type. A field that is missing here, that the type does
 * not have, or that has another type, does not compile.
 */
export type FieldSchemas<Fields> = {
  readonly [Field in keyof Fields]-?: FieldSchema<Fields[Field]>;
};

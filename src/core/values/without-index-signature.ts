/**
 * Schemas keep unknown fields, so their inferred types have an index signature, and a misspelt field would compile.
 * `Known` removes those signatures at every depth, and keeps those of true records.
 */
export type Known<T> = T extends readonly (infer U)[]
  ? Known<U>[]
  : T extends object
    ? [NamedKeys<T>] extends [never]
      ? T
      : { [K in keyof T as string extends K ? never : number extends K ? never : K]: Known<T[K]> }
    : T;

type NamedKeys<T> = keyof { [K in keyof T as string extends K ? never : number extends K ? never : K]: true };

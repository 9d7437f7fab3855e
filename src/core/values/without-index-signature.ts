/**
 * Schemas keep unknown fields, so what they infer has an index signature, and a misspelt field would compile.
 * `Known` takes those signatures off again, at every depth, and leaves true records alone.
 */
export type Known<T> = T extends readonly (infer U)[]
  ? Known<U>[]
  : T extends object
    ? [NamedKeys<T>] extends [never]
      ? T
      : { [K in keyof T as string extends K ? never : number extends K ? never : K]: Known<T[K]> }
    : T;

type NamedKeys<T> = keyof { [K in keyof T as string extends K ? never : number extends K ? never : K]: true };

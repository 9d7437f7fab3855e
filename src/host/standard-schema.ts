/** The part of the Standard Schema contract (standardschema.dev) that tools need; zod, valibot, arktype and others keep it. */

interface Issue {
  readonly message: string;
}

type Validated = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

/** A schema of any library that keeps the contract. */
export interface StandardSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validated | Promise<Validated>;
    /** Not every library has it: then the tool is given its JSON Schema itself. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: "draft-07" }) => Record<string, unknown> };
  };
}

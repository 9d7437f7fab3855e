/** Flags that only another program's command line has. */

/** `value` says that one follows, `optional` that it may. `means`: what we say for it; without that it is taken and changes nothing. */
export interface ForeignFlag {
  name: string;
  value?: string;
  optional?: true;
  means?: (value: string) => readonly string[];
  /** Taken in silence: it says something about the host, or what it asks for is the case. */
  quiet?: true;
}

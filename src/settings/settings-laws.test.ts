import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import fc from "fast-check";
import { stringify } from "yaml";
import { Mode, Thinking } from "../core/config.js";
import { chooseProvider, loadSettings } from "./settings.js";
import type { Config } from "./config-schema.js";
import { isApiRoot, PROVIDERS } from "../core/providers/providers.js";
import { TIME_LIMITS } from "../core/limits.js";
import { isRule } from "../core/text/rule-text.js";
import { scratch } from "../../test/support/processes.js";

const NO_HOOKS = { pre_tool_use: [], post_tool_use: [], prompt: [], stop: [], session_start: [], session_end: [] };

test("any valid settings, dumped as YAML, load back equal", async () => {
  const home = scratch();
  await fc.assert(
    fc.asyncProperty(configs(), async (config) => {
      // As quoted texts: the library's own block texts lose spaces before a first line break.
      await writeFile(join(home, "config.yaml"), stringify(config, { blockQuote: false }));
      const { settings } = await loadSettings({ flags: {}, env: { PARLEY_HOME: home }, cwd: home });
      const chosen = chooseProvider(settings, {});
      const { systemPrompt, appendSystemPrompt, approval, allowTools, limits, sessions, hooks, baseUrl, ...same } = config;
      expect(settings).toMatchObject({
        ...same,
        mode: approval ?? "default",
        limits: {
          contextTokens: 200_000,
          lineBytes: 16_777_216,
          approvalSeconds: 300,
          outputChars: 50_000,
          answerMiB: 16,
          stuckSeconds: 60,
          retries: 10,
          retrySeconds: 600,
          ...TIME_LIMITS,
          ...limits,
        },
        sessions: { enabled: true, keep: 200, ...sessions },
        hooks: { ...NO_HOOKS, ...hooks },
      });
      expect(settings.system).toBe(systemPrompt);
      expect(settings.appendSystem).toBe(appendSystemPrompt);
      expect(settings.approveTools).toEqual(allowTools);
      expect(settings.baseUrl).toBe((chosen === undefined ? undefined : config.providers?.[chosen]?.baseUrl) ?? baseUrl);
      expect(settings.mcpServers).toEqual(config.mcpServers ?? {});
      expect(settings.providers).toEqual(config.providers ?? {});
    }),
    { numRuns: 200 },
  );
});

function configs(): fc.Arbitrary<Config> {
  const odd = "\n\t\r '\"#:-{}[]&*!|>%@`\\$~\u2028\u0085\u0000\uFEFF";
  const unit = fc.oneof(fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }), fc.constantFrom(...odd.split("")));
  const anyText = fc.string({ unit, maxLength: 20 });
  const lookalikes = fc.constantFrom("null", "true", "12", "1e3", "~", "<<", "0x1F", "2001-01-01", "${TOKEN}", "=", "-", "?");
  const text = fc.oneof(lookalikes, fc.string({ unit, minLength: 1, maxLength: 20 }));
  const name = text.filter((word) => !["__proto__", "prototype", "constructor"].includes(word));
  const texts = fc.array(text, { maxLength: 3 });
  const rule = text.filter(isRule);
  const rules = fc.array(rule, { maxLength: 3 });
  const byName = <T>(value: fc.Arbitrary<T>) => fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: true });
  const count = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
  const timeoutMs = fc.integer({ min: 1, max: 2_147_483_647 });
  const url = fc.webUrl().filter(isApiRoot);
  const some = { requiredKeys: [], noNullPrototype: true };
  const match = fc.constantFrom("Bash", "Write|Edit", "Bash(rm *)", "mcp__x__*|exec");
  const hooksOf = (more: { match?: fc.Arbitrary<string> }) => {
    const entries = { ...more, timeoutMs, command: fc.array(text, { minLength: 1, maxLength: 3 }) };
    return fc.array(fc.record(entries, { requiredKeys: ["command"], noNullPrototype: true }), { maxLength: 2 });
  };
  const [hooks, toolHooks] = [hooksOf({}), hooksOf({ match })];
  const provider = fc.record(
    {
      kind: fc.constantFrom("openai-compatible" as const, "anthropic" as const, "openai" as const),
      baseUrl: url,
      apiKeyEnv: fc.constant("LAB_KEY"),
      headers: byName(anyText),
      models: byName(fc.record({ context: count, output: count, thinking: fc.boolean(), images: fc.boolean() }, some)),
      compat: fc.record(
        {
          includeUsage: fc.boolean(),
          maxTokensField: fc.constantFrom("max_tokens" as const, "max_completion_tokens" as const),
          reasoningEffort: fc.boolean(),
        },
        some,
      ),
    },
    { requiredKeys: ["kind", "baseUrl"], noNullPrototype: true },
  );
  const server = fc.oneof(
    fc.record(
      {
        command: text.filter((name) => !name.includes("/")),
        args: fc.array(anyText, { maxLength: 3 }),
        env: byName(anyText),
        enabledTools: texts,
        timeoutMs,
      },
      { requiredKeys: ["command"], noNullPrototype: true },
    ),
    fc.record({ url: text, headers: byName(anyText) }, { requiredKeys: ["url"], noNullPrototype: true }),
  );
  return fc.record(
    {
      provider: fc.constantFrom(...Object.keys(PROVIDERS)),
      model: text,
      baseUrl: url,
      maxTokens: count,
      maxTurns: count,
      systemPrompt: anyText,
      appendSystemPrompt: anyText,
      approval: fc.constantFrom(...Mode.options),
      allowTools: rules,
      rules: fc.array(fc.oneof(fc.record({ deny: rule }), fc.record({ ask: rule }), fc.record({ allow: rule })), { maxLength: 3 }),
      allowedTools: rules,
      disallowedTools: rules,
      thinking: fc.constantFrom(...Thinking.options),
      mcpServers: byName(server),
      hooks: fc.record(
        { pre_tool_use: toolHooks, post_tool_use: toolHooks, prompt: hooks, stop: hooks, session_start: hooks, session_end: hooks },
        some,
      ),
      sessions: fc.record({ enabled: fc.boolean(), keep: count }, some),
      limits: fc.record(
        {
          contextTokens: count,
          lineBytes: fc.integer({ min: 1024, max: 536_870_888 }),
          approvalSeconds: fc.integer({ min: 1, max: 2_147_483 }),
          outputChars: fc.integer({ min: 1, max: 536_870_888 }),
          connectSeconds: fc.integer({ min: 1, max: 2_147_483 }),
          firstByteSeconds: fc.integer({ min: 1, max: 2_147_483 }),
          idleSeconds: fc.integer({ min: 1, max: 2_147_483 }),
        },
        some,
      ),
      providers: byName(provider),
    },
    some,
  );
}

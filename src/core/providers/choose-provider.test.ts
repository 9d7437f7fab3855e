import { describe, expect, test } from "vitest";
import { PROVIDERS } from "./providers.js";
import { chooseProvider, matchNames, type Names } from "./choose-provider.js";

describe("chooseProvider", () => {
  const providers = { lab: { models: { small: {}, "gpt-lab": {} } }, bare: {} };
  const choose = (named: { provider?: string; model?: string }, env = {}) => chooseProvider({ ...named, providers }, env);

  test.each([
    ["claude-sonnet-4-6", "anthropic"],
    ["gpt-5.4", "openai"],
    ["o3-mini", "openai"],
    ["gemini-2.5-pro", "gemini"],
    ["grok-4", "xai"],
    ["scripts/plan.yaml", "rehearsal"],
    ["plan.YML", "rehearsal"],
    ["/x/plan.json", "rehearsal"],
    ["claude-script.yaml", "rehearsal"],
    ["small", "lab"],
    ["gpt-lab", "lab"],
    ["omega", undefined],
    ["my-claude-", undefined],
    ["anthropic/claude-sonnet-4-6", undefined],
    ["toString", undefined],
  ])("the model %s is %s's", (model, provider) => {
    expect(choose({ model })).toBe(provider);
  });

  test("a name beats the model, the model beats the keys", () => {
    const env = { OPENAI_API_KEY: "k" };
    expect(choose({ provider: "bedrock", model: "claude-x" }, env)).toBe("bedrock");
    expect(choose({ model: "claude-x" }, env)).toBe("anthropic");
    expect(choose({ model: "omega" }, env)).toBe("openai");
    expect(choose({}, env)).toBe("openai");
  });

  test("keys count in a fixed order, empty ones not at all", () => {
    const order = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];
    const chosen = order.map((_, index) => choose({}, Object.fromEntries(order.map((key, at) => [key, at < index ? "" : "k"]))));
    expect(chosen).toEqual(["anthropic", "openai", "gemini"]);
    expect(choose({}, {})).toBeUndefined();
  });

  test("default models belong to their providers, or to none", () => {
    // A provider without a key of its own serves the models of others.
    const own = Object.entries(PROVIDERS).filter(([, { keyVariable }]) => keyVariable !== undefined);
    const defaults = own.flatMap(([provider, { defaultModel }]) => (defaultModel === undefined ? [] : [[provider, defaultModel] as const]));
    expect(defaults.map(([provider, model]) => choose({ model }) ?? provider)).toEqual(defaults.map(([provider]) => provider));
  });
});

describe("matchNames", () => {
  const providers = { lab: { models: { small: {} } } };
  const match = (sources: { provider?: string; model?: string }[], addresses: string[] = []) => {
    const found = sources.map(({ provider, model }, index): Names => ({
      provider: provider === undefined ? undefined : { value: provider, from: `${index}` },
      model: model === undefined ? undefined : { value: model, from: `${index}` },
    }));
    const { provider, model } = matchNames(found, providers, (name) => addresses.includes(name));
    return [provider && `${provider.value}@${provider.from}`, model && `${model.value}@${model.from}`];
  };

  test.each([
    ["one source stands as it is", [{ provider: "anthropic", model: "gpt-5" }], ["anthropic@0", "gpt-5@0"]],
    ["nothing named", [{}, {}], [undefined, undefined]],
    ["a model alone", [{}, { model: "claude-x" }], [undefined, "claude-x@1"]],
    ["a plain model goes to the provider below", [{ model: "omega" }, { provider: "openai", model: "gpt-5" }], ["openai@1", "omega@0"]],
    ["another's model leaves the provider below", [{ model: "claude-x" }, { provider: "openai" }], [undefined, "claude-x@0"]],
    ["unless that one serves any", [{ model: "claude-x" }, { provider: "vertex" }], ["vertex@1", "claude-x@0"]],
    ["a script leaves any provider", [{ model: "a.yaml" }, { provider: "vertex" }], [undefined, "a.yaml@0"]],
    ["a listed model leaves any provider", [{ model: "small" }, { provider: "local" }], [undefined, "small@0"]],
    ["a listed model stays with its provider", [{ model: "small" }, { provider: "lab" }], ["lab@1", "small@0"]],
    [
      "a provider does not get another's model",
      [{ provider: "openai" }, { provider: "anthropic", model: "claude-x" }],
      ["openai@0", undefined],
    ],
    ["nor one that is plainly another's", [{ provider: "openai" }, { model: "claude-x" }], ["openai@0", undefined]],
    ["but one that may be its own", [{ provider: "openai" }, { model: "omega" }], ["openai@0", "omega@1"]],
    [
      "it looks further down",
      [{ provider: "openai" }, { model: "claude-x" }, { provider: "openai", model: "gpt-5" }],
      ["openai@0", "gpt-5@2"],
    ],
  ])("%s", (_, sources, expected) => {
    expect(match(sources)).toEqual(expected);
  });

  test("behind an address of its own a provider serves any model", () => {
    expect(match([{ model: "claude-x" }, { provider: "openai" }], ["openai"])).toEqual(["openai@1", "claude-x@0"]);
  });
});

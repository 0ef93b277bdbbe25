// State: one store for the whole page. Views read it and are called again when a key they named changes.

/** A store of plain values: get a key, set several at once, listen to some. */
export function createStore(initial) {
  const values = { ...initial };
  const listeners = [];
  let changed = null; // keys that changed while listeners run
  const store = {
    get: (key) => values[key],
    set(patch) {
      const keys = Object.keys(patch).filter((key) => values[key] !== patch[key]);
      Object.assign(values, patch);
      if (!keys.length) return;
      if (changed) {
        keys.forEach((key) => changed.add(key));
        return;
      }
      changed = new Set(keys);
      try {
        while (changed.size) {
          const now = changed;
          changed = new Set();
          for (const { wanted, call } of listeners) if (wanted.some((key) => now.has(key))) call(now);
        }
      } finally {
        changed = null;
      }
    },
    on(wanted, call) {
      listeners.push({ wanted, call });
    },
  };
  return store;
}

/** What is lit: what the pointer or the focus is on, else what was pinned. */
export const litOf = (store) => store.get("hover") ?? store.get("pinned");

/** Whether two selections are the same. */
export const sameSelection = (a, b) => a === b || (a?.kind === b?.kind && a?.id === b?.id);

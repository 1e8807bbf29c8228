import { describe, expect, it } from "vitest";
import { fieldsAt, firstChoice, indexText, parseField, type Part, partOf, pieceText, placeInPart, realPosition, stepField } from "./dims";

const range = (start: number, step: number, length: number) => ({ kind: "range", start, step, length });
const part = (fields: string[], shape: number[]): Part => {
  const made = partOf(fields, shape);
  if (made instanceof Map) throw new Error([...made].join());
  return made;
};
/** The indices that a field selects, as Python would list them. */
const indices = (text: string, size: number): number[] => {
  const read = parseField(text, size);
  if (typeof read === "string") throw new Error(read);
  return read.kind === "one" ? [read.at] : Array.from({ length: read.length }, (_, at) => read.start + read.step * at);
};

describe("fields", () => {
  it.each<[string, number, unknown]>([
    ["0", 5, { kind: "one", at: 0 }],
    [" 4 ", 5, { kind: "one", at: 4 }],
    ["-1", 5, { kind: "one", at: 4 }],
    ["-5", 5, { kind: "one", at: 0 }],
    ["+1_0", 20, { kind: "one", at: 10 }],
    [":", 5, range(0, 1, 5)],
    ["1:3", 5, range(1, 1, 2)],
    ["-2:", 5, range(3, 1, 2)],
    [":-1", 5, range(0, 1, 4)],
    ["3:100", 5, range(3, 1, 2)],
    ["-100:2", 5, range(0, 1, 2)],
    ["::2", 5, range(0, 2, 3)],
    ["::-1", 5, range(4, -1, 5)],
    ["3:0:-2", 5, range(3, -2, 2)],
    ["100::-3", 5, range(4, -3, 2)],
    [" 1 : 4 : 2 ", 5, range(1, 2, 2)],
  ])("%s of %i", (text, size, wanted) => expect(parseField(text, size)).toEqual(wanted));

  it.each<[string, number, string]>([
    ["", 5, "empty"],
    ["  ", 5, "empty"],
    ["x", 5, "syntax"],
    ["1.5", 5, "syntax"],
    ["1 2", 5, "syntax"],
    ["1,2", 5, "syntax"],
    ["...", 5, "syntax"],
    ["1:2:3:4", 5, "colons"],
    ["::0", 5, "step"],
    ["5", 5, "outside"],
    ["-6", 5, "outside"],
    ["0", 0, "outside"],
  ])("%s of %i is wrong", (text, size, mistake) => expect(parseField(text, size)).toBe(mistake));

  it("select what Python's slices select", () => {
    // from list(range(7))[…] in Python
    expect(indices("5:1:-2", 7)).toEqual([5, 3]);
    expect(indices("-3::-2", 7)).toEqual([4, 2, 0]);
    expect(indices(":-9", 7)).toEqual([]);
    expect(indices("9:", 7)).toEqual([]);
    expect(indices("2:2", 7)).toEqual([]);
    expect(indices("6:2", 7)).toEqual([]);
    expect(indices(":-9:-3", 7)).toEqual([6, 3, 0]);
    expect(indices("::100", 7)).toEqual([0]);
    expect(indices(":", 0)).toEqual([]);
    expect(indices("::-1", 0)).toEqual([]);
  });

  it("step by one, around the ends; ranges do not", () => {
    expect(stepField("3", 1, 5)).toBe("4");
    expect(stepField("4", 1, 5)).toBe("0");
    expect(stepField("0", -1, 5)).toBe("4");
    expect(stepField("-1", -1, 5)).toBe("3");
    expect(stepField("1:3", 1, 5)).toBeNull();
    expect(stepField("x", 1, 5)).toBeNull();
  });
});

describe("the first choice", () => {
  it.each<[number[], string[]]>([
    [[], []],
    [[7], [":"]],
    [[1], [":"]],
    [[0], [":"]],
    [[4, 5], [":", ":"]],
    [[1, 5], [":", ":"]],
    [[6, 1, 5, 5], ["0", "0", ":", ":"]],
    [[32, 64, 1, 1], [":", ":", "0", "0"]], // a 1×1 convolution
    [[64, 3, 1, 7], [":", "0", "0", ":"]],
    [[1, 1, 128, 1], ["0", "0", ":", ":"]],
    [[128, 1, 1, 1], [":", "0", ":", "0"]],
    [[1, 1, 1], ["0", ":", ":"]],
    [[8, 8, 8, 1], ["0", ":", ":", "0"]], // of the same size, the later ones
    [[2, 3, 4, 5, 6], ["0", "0", "0", ":", ":"]],
    [[0, 3], [":", ":"]],
    [[3, 0, 2, 2], ["0", ":", ":", ":"]],
    [[0, 0, 0], [":", ":", ":"]],
  ])("of %o", (shape, fields) => {
    expect(firstChoice(shape)).toEqual(fields);
    expect(partOf(fields, shape)).not.toBeInstanceOf(Map);
  });

  it("is right for every shape: no mistake, two free at most, and data wherever there are any", () => {
    const sizes = [0, 1, 2, 9];
    const shapes = (rank: number): number[][] => (rank === 0 ? [[]] : shapes(rank - 1).flatMap((each) => sizes.map((size) => [...each, size])));
    for (const shape of [0, 1, 2, 3, 4, 5].flatMap(shapes)) {
      const made = part(firstChoice(shape), shape);
      const isEmpty = shape.includes(0);
      if (!isEmpty) expect(made.free.length).toBe(Math.min(2, shape.length));
      expect(made.shape.includes(0)).toBe(isEmpty);
    }
  });
});

describe("parts", () => {
  it("have one text each", () => {
    expect(part(["-1", " : ", "1:5:2"], [3, 4, 9])).toMatchObject({ index: "2, :, 1:5:2", shape: [4, 2], free: [1, 2] });
    expect(part(["::-1"], [5]).index).toBe("4::-1");
    expect(part(["3:0:-2"], [5]).index).toBe("3::-2"); // to the same end
    expect(part(["9:"], [5])).toMatchObject({ index: "0:0", shape: [0] });
    expect(part([], [])).toMatchObject({ index: "", shape: [], free: [] });
    expect(indexText([{ kind: "range", start: 0, step: 1, length: 4 }], [4])).toBe(":");
  });

  it("tell each mistake at its dimension", () => {
    expect(partOf(["x", ":", "9"], [3, 4, 5])).toEqual(new Map([[0, "syntax"], [2, "outside"]]));
    expect(partOf([":", ":", "0:1"], [3, 4, 5])).toEqual(new Map([[2, "free"]]));
    expect(partOf([":"], [3, 4])).toEqual(new Map([[1, "empty"]]));
  });

  it("are cut into pieces with the steps of their ranges", () => {
    const two = part(["1", "::2", "::-1"], [3, 10, 8]);
    expect(pieceText(two, [0, 0], [5, 8])).toBe("1, 0:10:2, 7::-1");
    expect(pieceText(two, [1, 2], [3, 4])).toBe("1, 2:6:2, 5:3:-1");
    expect(pieceText(two, [2, 2], [2, 4])).toBe("1, 0:0, 5:3:-1");
    // Each piece selects what it should, read again.
    const last = part(["::-3"], [10]);
    expect(indices("::-3", 10)).toEqual([9, 6, 3, 0]);
    expect(indices(pieceText(last, [1], [3]), 10)).toEqual([6, 3]);
    expect(indices(pieceText(last, [3], [4]), 10)).toEqual([0]);
  });

  it("know where their places are in the tensor, and the other way round", () => {
    const made = part(["-1", "::2", "::-1"], [3, 10, 8]);
    expect(realPosition(made, [2, 1])).toEqual([2, 4, 6]);
    expect(placeInPart(made, [2, 4, 6])).toEqual([2, 1]);
    expect(placeInPart(made, [1, 4, 6])).toBeNull();
    expect(placeInPart(made, [2, 5, 6])).toBeNull();
    expect(realPosition(part([], []), [])).toEqual([]);
    expect(placeInPart(part([], []), [])).toEqual([]);
  });

  it("go to the part that has a place, with as much as can be kept", () => {
    const fields = ["-1", "::2", "3:"];
    const made = part(fields, [3, 10, 8]);
    expect(fieldsAt(fields, made, [0, 4, 7])).toEqual(["0", "::2", "3:"]);
    expect(fieldsAt(fields, made, [2, 5, 1])).toEqual(["2", ":", ":"]);
  });
});

import { expect, it } from "vitest";
import { ApiError } from "../api/client";
import { dictionaries } from ".";
import { errorText } from "./errors";

const failed = (message: string, kind: string, code: string | null = null) => new ApiError(message, kind, 400, [], null, code);

it("says what has a code in the language of the page", () => {
  const error = failed("this tensor holds text and no numbers: its values are not shown", "bad_request", "no_numbers");
  expect(errorText(error, dictionaries.en)).toBe(dictionaries.en.error.no_numbers);
  expect(errorText(error, dictionaries.zh)).toBe(dictionaries.zh.error.no_numbers);
  expect(dictionaries.zh.error.no_numbers).not.toBe(dictionaries.en.error.no_numbers);
});

it("keeps the line of the server where it knows no better", () => {
  expect(errorText(failed("released", "not_available"), dictionaries.zh)).toBe("released");
  expect(errorText(failed("released", "not_available", "of_tomorrow"), dictionaries.zh)).toBe("released");
});

it("has words where the server sent none", () => {
  expect(errorText(failed("", "unreachable"), dictionaries.zh)).toBe(dictionaries.zh.error.unreachable);
});

import pytest

from factpin import errors


def test_a_near_name_is_suggested() -> None:
    table = {"global_pointer": 1, "crf": 2}
    assert errors.pick(table, "global-pointer", kind="head") == 1
    with pytest.raises(errors.UnknownName, match="no head 'global_ponter'. Did you mean 'global_pointer'. Known: crf"):
        errors.pick(table, "global_ponter", kind="head")
    with pytest.raises(errors.UnknownName, match="no head 'zzz'. Known"):
        errors.pick(table, "zzz", kind="head")


def test_every_error_of_the_file_is_drawn_in_its_tree() -> None:
    drawn = errors.__doc__ or ""
    found = [v for v in vars(errors).values() if isinstance(v, type) and issubclass(v, errors.FactpinError)]
    assert len(found) > 8
    assert all(kind.__name__ in drawn for kind in found)


def test_a_bad_record_names_its_place() -> None:
    error = errors.BadRecord("expected a string", file="x.json", line=12, field="text")
    assert str(error) == "x.json:12, field text: expected a string"

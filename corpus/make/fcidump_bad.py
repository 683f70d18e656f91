"""Files of integrals that are refused: corpus/fcidump/bad."""

import functools

import common

HEAD = " &FCI NORB=2,NELEC=2,\n &END\n"

put = functools.partial(common.bad_text, "fcidump")


def make():
    headers()
    integrals()


def headers():
    put("empty", "", 0, "no namelist")
    put("blank", "\n\n", 2, "no namelist")
    put("no_namelist", "1.0 1 1 1 1\n", 0, "no namelist")
    put("other_namelist", " &FCIX NORB=2,\n &END\n", 0, "another namelist")
    put("no_end", " &FCI NORB=2,\n1.0 1 1 1 1\n", None, "the namelist goes on")
    put("cut_in_namelist", " &FCI NORB=2,\n", 14, "no end")
    put("no_norb", " &FCI NELEC=2,\n &END\n", 0, "how many orbitals")
    put("norb_negative", " &FCI NORB=-2,\n &END\n", "-2", "a number of orbitals")
    put("norb_fraction", " &FCI NORB=2.0,\n &END\n", "2.0", "a number of orbitals")
    put("norb_two_values", " &FCI NORB=2,3\n &END\n", "NORB", "one number")
    put("norb_nothing", " &FCI NORB=,\n &END\n", "NORB", "one number")
    put("norb_overflow", " &FCI NORB=18446744073709551616,\n &END\n", "1844", "64 bits")
    put("norb_gigantic", " &FCI NORB=65536,\n &END\n", None, "2^64 cells", kind="unsupported")
    put("twice", " &FCI NORB=2,NORB=2,\n &END\n", "NORB", "set twice", nth=1)
    put("twice_any_case", " &FCI NORB=2,Nelec=2,nELEC=2\n &END\n", "nELEC", "set twice")
    put("value_first", " &FCI 2,NORB=2\n &END\n", "2,NORB", "no name")
    put("equals_first", " &FCI =2,NORB=2\n &END\n", "=2", "no name")
    put("two_equals", " &FCI NORB==2\n &END\n", "=2", "no name")
    put("name_of_digits", " &FCI NORB=2,2X=3\n &END\n", "2X", "no name")
    put("name_not_ascii", " &FCI NORB=2,NÉ=3\n &END\n", "NÉ", "no name")
    put("text_without_end", " &FCI NORB=2,T='abc\n &END\n", "'abc", "no end")
    put("value_not_utf8", b" &FCI NORB=2,T=\xff\n &END\n", 13, "no text")
    put("another_namelist_inside", " &FCI NORB=2\n &FCJ\n &END\n", "&FCJ", "no end")
    put("more_after_end", " &FCI NORB=2\n &END 1.0 1 1 1 1\n", " 1.0", "the end of the line")
    put("more_after_slash", " &FCI NORB=2 / 1.0 1 1 1 1\n", " 1.0", "the end of the line")
    for name in ("IUHF=1", "UHF=.TRUE.", "UHF=T", "uhf=.true."):
        file = name.replace("=", "_").replace(".", "")
        file += "_small" if name.islower() else ""
        put(file, f" &FCI NORB=2,{name}\n &END\n", None, "unrestricted", kind="unsupported")


def integrals():
    put("orbital_beyond", HEAD + "1.0 3 1 1 1\n", "3 1", "two orbitals")
    put("orbital_negative", HEAD + "1.0 1 -1 1 1\n", "-1", "no orbital")
    put("orbital_fraction", HEAD + "1.0 1.0 1 1 1\n", "1.0 1 1 1", "no orbital")
    put("orbital_overflow", HEAD + "1.0 99999999999999999999 1 1 1\n", "9999", "64 bits")
    put("three_orbitals", HEAD + "1.0 1 1 1\n", len(HEAD) + 9, "four")
    put("five_orbitals", HEAD + "1.0 1 1 1 1 2\n", "2", "four", nth=2)
    for orbitals in ("1 1 1 0", "1 1 0 1", "1 0 1 1", "0 1 1 1", "0 1 0 0", "0 0 1 1", "1 0 1 0", "0 0 0 1"):
        put(f"orbitals_{orbitals.replace(' ', '')}", HEAD + f"1.0 {orbitals}\n", "1.0", "no integral")
    put("no_orbitals", " &FCI NORB=0\n &END\n1.0 1 1 0 0\n", "1 1 0", "none there")
    put("value_text", HEAD + "abc 1 1 1 1\n", "abc", "no number")
    put("value_two_letters", HEAD + "1dd3 1 1 1 1\n", "1dd3", "no number")
    put("value_too_large", HEAD + "1d999 1 1 1 1\n", "1d999", "no double")
    put("complex_among_real", HEAD + "1.0 1 1 1 1\n(1.0,0.0) 2 2 2 2\n", "(1.0", "real ones before")
    put("real_among_complex", HEAD + "(1.0,0.0) 1 1 1 1\n1.0 2 2 2 2\n", "1.0 2", "complex ones before")
    put("complex_open", HEAD + "(1.0,0.0 1 1 1 1\n", "(1.0", "no end")
    put("complex_of_one", HEAD + "(1.0) 1 1 1 1\n", "(1.0", "two numbers")
    put("complex_of_three", HEAD + "(1.0,2.0,3.0) 1 1 1 1\n", "2.0,3.0", "two numbers")
    put("complex_of_none", HEAD + "(,) 1 1 1 1\n", len(HEAD) + 1, "two numbers")
    put("complex_two_in_one", HEAD + "(1.0 7.5,0.0) 1 1 1 1\n", "7.5", "two numbers")
    put("comment", HEAD + "! c\n", "! c", "no number")
    put("cut_in_an_integral", HEAD + "1.0 1 1 1 1\n2.0 1", len(HEAD) + 17, "four")
    put("core_twice", HEAD + "1.0 0 0 0 0\n1.0 0 0 0 0\n", None, "unrestricted, or wrong")
    put("integral_twice", HEAD + "1.0 1 1 1 1\n2.0 2 1 1 1\n1.0 1 1 1 1\n", "1.0 1 1 1 1", "given twice", nth=1)
    put("integral_twice_by_symmetry", HEAD + "2.0 2 1 1 1\n2.5 1 1 1 2\n3.0 2 2 1 1\n", "2.5", "its mirror image is 2.0")
    put("integral_twice_by_a_swap", HEAD + "2.0 2 1 2 1\n3.0 2 2 1 1\n2.0001 2 1 1 2\n", "2.0001", "its image is 2.0")
    put("mirror_beyond_rounding", HEAD + "1.0 1 1 1 1\n0.5 2 2 1 1\n0.500000000002 1 1 2 2\n", "0.500000000002", "more than 1e-12 of the largest")
    put("mirror_not_a_number", HEAD + "1.0 1 1 1 1\nnan 2 2 1 1\n0.5 1 1 2 2\n", "0.5", "its image is no number")
    put("mirror_asked_not_to_be", HEAD + "1.0 2 2 1 1\n1.0 1 1 2 2\n", "1.0 1 1", "an image is there", options={"symmetry": "8"})
    put("image_beside_four_fold", HEAD + "1.0 2 1 1 1\n1.0 1 2 1 1\n", "1.0 1 2", "an image is there", options={"symmetry": "4"})
    put("twice_without_symmetry", HEAD + "1.0 2 1 1 1\n1.0 2 1 1 1\n", "1.0 2 1 1 1", "given twice", nth=1, options={"symmetry": "none"})
    put("one_twice", HEAD + "1.0 2 1 0 0\n1.0 1 2 0 0\n1.0 2 1 0 0\n", "1.0 2 1 0 0", "given twice", nth=1)
    put("energy_twice", HEAD + "1.0 1 0 0 0\n1.0 1 0 0 0\n", "1.0 1 0 0 0", "given twice", nth=1)
    put("complex_twice", HEAD + "(1.0,2.0) 2 1 1 1\n(1.0,2.0) 1 2 1 1\n(1.0,2.0) 2 2 2 1\n", "(1.0,2.0) 1 2", "no conjugate")
    put("hermitian_diagonal", HEAD + "(1.0,2.0) 1 1 0 0\n", None, "its own conjugate", by="verify", lenient_ok=True)


if __name__ == "__main__":
    raise SystemExit(common.run(make))

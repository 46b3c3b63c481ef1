// SPDX-License-Identifier: GPL-2.0-only
/*
 * For the statically linked program only: the libelf.a of elfutils 0.192 refers to two functions of
 * elfutils' lib/eu-search.c and does not contain them. They handle the tree of
 * elf_getdata_rawchunk(), which is not linked here, so the tree stays empty. Weak, because the
 * libelf.a of later versions contains them.
 */
#include <stddef.h>

/* Its lock is not used: the program calls libelf from one thread only. */
struct search_tree {
	void *root;
};

void eu_search_tree_init(struct search_tree *tree);
void __attribute__((weak)) eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));
void __attribute__((weak)) eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
}
